/** Ledgers and target's logs that do not fit together, and effects that were handled wrongly. */
import type { Epoch, OwnerId } from "@loopledger/shared/core/brand";
import { actionOf, asks, claim, own, person, toReview } from "@loopledger/shared/testing";
import { Plant, type Planting, asking, changed, effectOf } from "../plant.ts";

const now = ({ story }: Plant): number => story.clock.now();
/** One call, asked for and confirmed, and when it was between the two. */
function confirmed(key = "k1", over: Parameters<typeof asks>[1] = {}): { readonly plant: Plant; readonly at: number } {
  const plant = asking(key, over);
  const at = now(plant) + 1;
  return { plant: plant.given(own("tool_result", { key })), at };
}
/** An owner asked and died; another one has claimed. */
const unknown = (over: Parameters<typeof asks>[1] = {}): Plant => asking("k1", over).given(claim("V"));

export const effectPlantings: Planting[] = [
  () => {
    const { plant, at } = confirmed();
    return { row: "E1", what: "an application that nobody asked for", inputs: plant.inputs({ effects: [effectOf("k1", { at }), effectOf("k2", { at })] }) };
  },
  () => {
    const { plant, at } = confirmed();
    return { row: "E2", what: "one key applied twice", inputs: plant.inputs({ effects: [effectOf("k1", { at }), effectOf("k1", { at: at + 1 })] }) };
  },
  () => ({ row: "E3", what: "an outcome that the target does not know", inputs: confirmed().plant.inputs({ effects: [] }) }),
  () => ({ row: "E4", what: "another call before the unknown one is settled", inputs: unknown().taken(asks("k2")).inputs() }),
  () => ({ row: "E5", what: "a default key that is none", inputs: asking("mine", { keySource: "default" }).inputs() }),
  () => {
    const { plant, at } = confirmed();
    const look = effectOf("k1", { kind: "lookup", epoch: 2, at: at - 1 });
    return { row: "E6", what: "a fencing target that obeys a lower epoch", inputs: plant.inputs({ effects: [look, effectOf("k1", { at })] }) };
  },
  () => {
    const plant = asking();
    const at = now(plant) + 1;
    return {
      row: "E7", what: "a reconciliation without a look",
      inputs: plant.given(claim("V"), own("reconciled", { key: "k1" })).inputs({ effects: [effectOf("k1", { at })] }),
    };
  },
  () => {
    const { plant, at } = confirmed("k1", { contract: "unsafe", fences: false });
    const call = { kind: "call" as const };
    return { row: "E8", what: "an unsafe call made twice", inputs: plant.inputs({ effects: [effectOf("k1", { ...call, at }), effectOf("k1", { ...call, at: at + 1 }), effectOf("k1", { at: at + 2 })] }) };
  },
  () => {
    const { plant, at } = confirmed();
    plant.given(asks("k2"));
    const again = now(plant) + 1;
    const effects = [effectOf("k1", { at, action: "release 7" }), effectOf("k2", { at: again, action: "release 7" })];
    return { row: "E9", what: "one intended action under two keys", inputs: plant.given(own("tool_result", { key: "k2" })).inputs({ effects }) };
  },
  () => ({
    row: "E10", what: "a conclusion before the window is over",
    inputs: unknown({ fences: false, callWindowSeconds: 60 }).taken(own("reconciled", { key: "k1", outcome: "did_not_happen" })).inputs(),
  }),
  () => ({ row: "E11", what: "a build that ends over an unsettled call", inputs: asking().taken(own("built")).inputs() }),
  () => ({ row: "E12", what: "a person who settles what its owner is about", inputs: asking().taken(person("reconciled", { key: "k1" })).inputs() }),
  () => ({ row: "E13", what: "a call out of a review", inputs: new Plant().given(...toReview()).taken(asks("k1")).inputs() }),
  () => ({
    row: "E14", what: "late news from the caller",
    inputs: unknown().given(own("reconciled", { key: "k1", outcome: "did_not_happen" }))
      .refused(own("tool_result", { key: "k1" }, { epoch: 1 as Epoch, ownerId: "W" as OwnerId, n: 2 })).inputs(),
  }),
  () => {
    const { digest, action } = actionOf("deploy", { to: "production" });
    const plant = asking("k1", { contract: "idempotent" }).given(own("approval_requested", { checkpoint: "cp-1", action, digest }));
    plant.given(changed(person("approval_decided", { checkpoint: "cp-1", digest, decision: "REJECT" }, "boss"), {}));
    return { row: "P4", what: "a call after a rejection", inputs: plant.taken(asks("k2")).inputs() };
  },
];
