/* A strict S3 server in a process of its own, with its objects in memory: nodes die, it does not. */
interface FakeS3 {
  readonly endpoint: string;
  readonly calls: unknown[];
  faultOf: () => undefined;
}
interface FakeS3Module {
  startFakeS3(clock: { monotonic(): number }): Promise<FakeS3>;
}

// The one that the store's own tests use; no door of the package leads to it.
const file = new URL("../../../../packages/store-blob/test/fake-s3.ts", import.meta.url);
const { startFakeS3 } = (await import(file.href)) as FakeS3Module;
const server = await startFakeS3({ monotonic: () => performance.now() });
// Nobody looks at what was asked, and it would grow for ever.
server.faultOf = () => {
  server.calls.length = 0;
  return undefined;
};
process.on("disconnect", () => process.exit(0));
process.send?.({ type: "ready", port: Number(new URL(server.endpoint).port) });
