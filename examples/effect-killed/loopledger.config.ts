import { defineConfig } from "loopledger";

const target = process.env["DEPLOY_URL"] ?? "http://127.0.0.1:7410";

export default defineConfig({
  makers: { deployer: { exec: ["node", "maker.mjs"], timeoutSeconds: 60 } },
  checks: { deployed: { exec: ["node", "check.mjs"], env: ["DEPLOY_URL"], timeoutSeconds: 60 } },
  tools: {
    /** It knows no key and cannot be asked: when an answer is lost, only a person can find out what became of the call. */
    deploy: { http: { url: `${target}/` }, contract: "unsafe" },
  },
});
