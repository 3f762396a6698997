/** The maker: deploys what the goal's inputs name, through loopledger, and says so. Exit 0 means that it is deployed. */
import { readFileSync, writeFileSync } from "node:fs";

const { inputs, attempt } = JSON.parse(readFileSync(0, "utf8"));
const { environment, version } = inputs;
process.stdout.write(`deploying ${version} to ${environment}, attempt ${attempt ?? 1}\n`);

const answer = await fetch(`${process.env.LOOPLEDGER_STEP_URL}/tools/deploy`, {
  method: "POST",
  headers: { authorization: `Bearer ${process.env.LOOPLEDGER_STEP_TOKEN}`, "content-type": "application/json" },
  body: JSON.stringify({ args: { environment, version }, key: `deploy:${environment}:${version}` }),
});
const said = await answer.text();
process.stdout.write(`loopledger answered ${answer.status}: ${said}\n`);
// After 424, incomplete_tool_turn, the exit code does not matter: a person settles what became of the call.
if (!answer.ok || JSON.parse(said).outcome !== "confirmed") process.exit(1);
writeFileSync(process.env.LOOPLEDGER_RESULT, JSON.stringify({ summary: `${version} is on ${environment}` }));
