/** Writes down every write that the store of the views applied, with the cursor that it moved. */
import type { ReadModel } from "@loopledger/shared/ports";

export interface ViewWritten {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  readonly views: readonly { readonly sessionId: string; readonly document: string }[];
  /** How often the store had been emptied by then. */
  readonly life: number;
}

export class Witness {
  readonly writes: ViewWritten[] = [];
  private life = 0;

  readonly applied = (_projection: string, { partition, from, to, views }: Parameters<ReadModel["write"]>[1]): void => {
    const shown = views.map(({ sessionId, document }) => ({ sessionId, document }));
    this.writes.push({ partition, from, to, views: shown, life: this.life });
  };
  forgotten(): void {
    this.life += 1;
  }
}
