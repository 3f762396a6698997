export { faultsOfSchema, placeOf } from "@loopledger/shared/core/schema-faults";
