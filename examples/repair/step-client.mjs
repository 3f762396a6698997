/**
 * The step protocol from a maker's side: what has an effect outside of the workspace is asked of loopledger, which
 * records it before and after and makes sure that it happens once.
 */

/**
 * @param {string} name
 * @param {object} args
 * @param {string} key what makes two calls the same deed
 * @returns {Promise<{ outcome: "confirmed" | "failed", result: any }>}
 */
export async function callTool(name, args, key) {
  const url = process.env.LOOPLEDGER_STEP_URL;
  if (url === undefined) throw new Error("LOOPLEDGER_STEP_URL is not set: this program is started by loopledger");
  const answer = await fetch(`${url}/tools/${name}`, {
    method: "POST",
    headers: { authorization: `Bearer ${process.env.LOOPLEDGER_STEP_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ args, key }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new StepRefused(answer.status, text);
  return JSON.parse(text);
}

/** The engine says no: the claim is gone (409), a person must act (423, 424), or there is no such tool (404). */
export class StepRefused extends Error {
  /** @param {number} status @param {string} text */
  constructor(status, text) {
    super(`loopledger answered ${status}: ${text}`);
    this.status = status;
  }
}
