/* A strict S3 server in a process of its own, with its objects in memory: nodes die, it does not. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

interface FakeS3 {
  readonly endpoint: string;
  readonly objects: ReadonlyMap<string, { readonly bytes: Uint8Array }>;
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
// No check reads the requests, and the list would grow for ever.
server.faultOf = () => {
  server.calls.length = 0;
  return undefined;
};
process.on("disconnect", () => process.exit(0));
const folder = process.argv[2] ?? "";
process.on("message", () => {
  const objects = [...server.objects].map(([key, { bytes }], index) => writeFile(join(folder, `object${index}`), [`${key}\n`, bytes]));
  void Promise.all(objects).then(() => process.send?.({ type: "written" }));
});
process.send?.({ type: "ready", port: Number(new URL(server.endpoint).port) });
