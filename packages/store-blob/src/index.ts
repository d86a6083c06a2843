/** Session log, index, blobs, snapshots and drafts over any blob store with conditional put: a folder of files, or S3. */
export {};
