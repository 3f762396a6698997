/** The dead letters of a gateway. */
import type { Letters } from "../letters/letters.ts";
import { type Remote, ask, withQuery } from "./gateway.ts";

export function remoteLetters(remote: Remote): Letters {
  const pathOf = (id: string): string => `/v1/dead-letters/${encodeURIComponent(id)}`;
  return {
    hasTopic: true,
    page: ({ limit, cursor }) => ask(remote, { path: withQuery("/v1/dead-letters", { limit, cursor }) }),
    get: (id) => ask(remote, { path: pathOf(id) }),
    replay: (id, { value, key }) => ask(remote, {
      method: "POST", path: `${pathOf(id)}/replay`,
      body: { ...(value !== undefined && { text: Buffer.from(value).toString("utf8") }), ...(key !== undefined && { key }) },
    }),
    close: async () => undefined,
  };
}
