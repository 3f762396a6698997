/** The blob store in a folder. */
export { type FolderBlobsOptions, openFolderBlobs } from "./blobs.ts";
export { sessionFolder } from "./session-folder.ts";
