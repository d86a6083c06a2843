/** Session log, index, blobs and snapshots over objects that are written under a condition: a folder of files, or S3. */
export { type BlobStoreOptions, blobStore } from "./blob-store.ts";
export type { ConditionalBlobs, ListedObject, ObjectPage, PutOptions, PutOutcome, StoredObject } from "./conditional-blobs.ts";
export { type FileBlobsOptions, fileBlobs } from "./files/file-blobs.ts";
export type { FileCalls } from "./files/file-calls.ts";
export { filesBackend } from "./files-backend.ts";
export { type S3BlobsOptions, s3Blobs } from "./s3/s3-blobs.ts";
export type { S3Place } from "./s3/s3-requests.ts";
