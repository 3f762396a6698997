/** The environment of the command line, read at this one edge. */
import { userInfo } from "node:os";
import type { Variables } from "@loopledger/composition/environment";

export type { Variables };

export interface Environment {
  /** `LOOPLEDGER_DATA`: the data folder; null = `.loopledger` of the working folder. */
  readonly dataFolder: string | null;
  /** `LOOPLEDGER_CONFIG`: the config; null = the working folder's. `--config` goes before it. */
  readonly config: string | null;
  /** `LOOPLEDGER_URL`: a gateway to work on instead of the data folder. */
  readonly url: string | null;
  /** `LOOPLEDGER_TOKEN`: the bearer token for that gateway. */
  readonly token: string | null;
  /** `LOOPLEDGER_KAFKA_BROKERS`: the ledger is a topic there. */
  readonly kafkaBrokers: string | null;
  /** `LOOPLEDGER_STEP_URL` and `LOOPLEDGER_STEP_TOKEN`: set inside a maker or check. */
  readonly stepUrl: string | null;
  readonly stepToken: string | null;
  /** `NO_COLOR` is unset or empty, and the terminal can show colours. */
  readonly colours: boolean;
  /** `CI` is set: nobody watches, so nothing is redrawn. */
  readonly ci: boolean;
  /** The login name of who types, for the records of what a person did. */
  readonly user: string;
  /** All variables as they are: settings of the runtime are read from here, and handlers get an allow-list of it. */
  readonly variables: Variables;
}

/** Of a process without such variables, a service's or a container's say: what the system calls its user, else the user's number. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.getuid === undefined ? "local" : `uid-${process.getuid()}`;
  }
}

export function readEnvironment(variables: Variables = process.env, login: () => string = accountName): Environment {
  const value = (name: string): string | null => variables[name] || null;
  return {
    dataFolder: value("LOOPLEDGER_DATA"),
    config: value("LOOPLEDGER_CONFIG"),
    url: value("LOOPLEDGER_URL"),
    token: value("LOOPLEDGER_TOKEN"),
    kafkaBrokers: value("LOOPLEDGER_KAFKA_BROKERS"),
    stepUrl: value("LOOPLEDGER_STEP_URL"),
    stepToken: value("LOOPLEDGER_STEP_TOKEN"),
    colours: value("NO_COLOR") === null && value("TERM") !== "dumb",
    ci: value("CI") !== null,
    user: value("USER") ?? value("LOGNAME") ?? login(),
    variables,
  };
}
