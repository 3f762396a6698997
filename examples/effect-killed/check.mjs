/** The check: is the version deployed? Asked of the target itself; where it cannot be asked there is no verdict (75). */
import { readFileSync } from "node:fs";

const { inputs } = JSON.parse(readFileSync(0, "utf8"));
const wanted = `deploy:${inputs.environment}:${inputs.version}`;
try {
  const { deployed } = await (await fetch(`${process.env.DEPLOY_URL}/`)).json();
  process.stdout.write(`deployed: ${deployed.join(", ") || "nothing"}\n`);
  process.exitCode = deployed.includes(wanted) ? 0 : 1;
} catch (error) {
  process.stderr.write(`the target cannot be asked: ${error.message}\n`);
  process.exitCode = 75;
}
