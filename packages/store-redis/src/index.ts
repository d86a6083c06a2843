/** Session log, leases, index, blobs, snapshots and drafts on Redis. */
export {};
