export { nearestName } from "@loopledger/shared/core/nearest";
