/** The real digest, for folds that run in tests. */
import { hash } from "node:crypto";
import type { Sha256 } from "../core/brand.ts";

export const sha256: Sha256 = (text) => hash("sha256", text);
