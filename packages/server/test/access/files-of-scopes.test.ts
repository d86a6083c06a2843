import { createClient } from "@loopwright/client";
import { memoryStore } from "@loopwright/core/memory";
import { accessPolicy } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { accessScene, as, tokenOf } from "./access-scene.ts";

const users = {
  anne: { scope: "garden", memberships: [{ scope: "kitchen" }] },
  ben: { scope: "garden" },
  carla: { scope: "garden", roles: ["admin"] },
} as const;
interface Page {
  readonly files: readonly { readonly blob: string; readonly name?: string; readonly by: string }[];
  readonly next?: string;
}

describe("A63: the files of a team", () => {
  it("are listed in the team that they were uploaded in, after a switch those of the other team, and they are there after the way back", async () => {
    const { server, clock } = accessScene(users);
    const clientIn = (scope?: string) =>
      createClient({ url: "http://localhost", token: tokenOf("anne"), scope, fetch: (request) => server.fetch(request) });
    const file = await clientIn().uploadFile(new Blob(["roses"], { type: "text/plain" }), "rosés.txt");
    expect(await clientIn().files()).toEqual({ files: [{ ...file, name: "rosés.txt", at: clock.now(), by: "anne" }] });
    expect(await clientIn("kitchen").files()).toEqual({ files: [] });
    expect((await clientIn("garden").files()).files.map(({ blob }) => blob)).toEqual([file.blob]);
  });

  it("come in pages, each file once, whatever the size of a page", async () => {
    const { ask, refused } = accessScene(users);
    const headers = as("anne", { "Content-Type": "text/plain" });
    for (let at = 0; at < 7; at++) await ask("/api/files", { body: `file ${at}`, headers });
    const seen: string[] = [];
    let next: string | undefined = "";
    while (next !== undefined) {
      const { body }: { body: Page } = await ask<Page>(`/api/files?limit=3${next === "" ? "" : `&after=${next}`}`, { headers: as("anne") });
      seen.push(...body.files.map(({ blob }) => blob));
      next = body.next;
    }
    expect([seen.length, new Set(seen).size]).toEqual([7, 7]);
    for (const after of ["x", "upload-1", "../secrets", "%00"])
      expect(await refused(`/api/files?after=${after}`, { headers: as("anne") })).toMatchObject({ status: 400, code: "CURSOR_INVALID" });
    for (const limit of ["0", "101", "x"])
      expect(await refused(`/api/files?limit=${limit}`, { headers: as("anne") })).toMatchObject({ status: 400 });
  });

  it("leave the list with the last session that names them, and nothing is kept of their names", async () => {
    const store = memoryStore();
    const { ask, send } = accessScene(users, { store });
    const headers = as("anne");
    const { body: file } = await ask<{ blob: string }>("/api/files", {
      body: "canary",
      headers: { ...headers, "Content-Type": "text/plain", "X-File-Name": "canary.txt" },
    });
    const part = { type: "file", mediaType: "text/plain", source: { blob: file.blob } };
    for (const id of ["a", "b"]) {
      await ask("/api/sessions", { json: { id }, headers });
      await ask(`/api/sessions/${id}/messages`, { json: { message: { role: "user", content: [part] } }, headers });
      await (await send(`/api/sessions/${id}/events`, { headers })).text();
    }
    const listed = async (): Promise<number> => (await ask<Page>("/api/files", { headers })).body.files.length;
    await send("/api/sessions/a", { method: "DELETE", headers });
    expect(await listed()).toBe(1);
    await send("/api/sessions/b", { method: "DELETE", headers });
    expect(await listed()).toBe(0);
    expect(await store.blobs.list("garden", { prefix: "about-" })).toEqual([]);
  });

  it("are deleted by a request, and nothing is kept of their names; one that sessions use stays until the last of them is gone, also under a hold", async () => {
    const store = memoryStore();
    const { ask, send, refused } = accessScene(users, { store });
    const headers = as("anne");
    const upload = async (body: string): Promise<string> => {
      const sent = { body, headers: { ...headers, "Content-Type": "text/plain", "X-File-Name": "canary.txt" } };
      return (await ask<{ blob: string }>("/api/files", sent)).body.blob;
    };
    const remove = async (blob: string): Promise<number> => (await send(`/api/files/${blob}`, { method: "DELETE", headers })).status;
    const [unused, used] = [await upload("unused"), await upload("used")];
    const part = { type: "file", mediaType: "text/plain", source: { blob: used } };
    for (const id of ["a", "b"]) {
      await ask("/api/sessions", { json: { id }, headers });
      await ask(`/api/sessions/${id}/messages`, { json: { message: { role: "user", content: [part] } }, headers });
      await (await send(`/api/sessions/${id}/events`, { headers })).text();
    }
    await ask("/api/sessions/a/hold", { method: "PUT", json: {}, headers });
    expect([await remove(unused), await remove(unused)]).toEqual([204, 404]);
    expect(await store.blobs.list("garden", { prefix: "about-" })).toEqual([`about-${used}`]);

    expect(await refused(`/api/files/${used}`, { method: "DELETE", headers })).toMatchObject({ status: 409, code: "FILE_IN_USE" });
    // Uploaded again it is the scope's as well, and the sessions use it as before.
    await upload("used");
    expect(await remove(used)).toBe(409);
    await send("/api/sessions/b", { method: "DELETE", headers });
    expect(await remove(used)).toBe(409);
    expect(await (await send(`/api/files/${used}`, { headers })).text()).toBe("used");
    await send("/api/sessions/a/hold", { method: "DELETE", headers });
    await send("/api/sessions/a", { method: "DELETE", headers });
    expect([await remove(used), await store.blobs.list("garden", { prefix: "about-" })]).toEqual([204, []]);
  });

  it("are deleted by those alone that find them in the list: to others one that is there and one that is not have the very same answer", async () => {
    const store = memoryStore();
    const { ask, send, refused } = accessScene(users, { store, ...accessPolicy({ store }) });
    const uploaded = await ask<{ blob: string }>("/api/files", { body: "x", headers: as("anne", { "Content-Type": "text/plain" }) });
    const { blob } = uploaded.body;
    const remove = (name: string, headers: Record<string, string>) => refused(`/api/files/${name}`, { method: "DELETE", headers });
    for (const headers of [as("ben"), as("anne", { "X-Scope": "kitchen" })])
      expect(JSON.stringify(await remove(blob, headers)).replaceAll(blob, "<it>")).toBe(
        JSON.stringify(await remove(`upload-${"0".repeat(64)}`, headers)).replaceAll(`upload-${"0".repeat(64)}`, "<it>"),
      );
    // The name of another value, as those of large values of logs, kept keys and notes, is none of a file.
    for (const name of [`about-${blob}`, "upload-", "upload-1", "sha256-0"])
      expect(await remove(name, as("carla"))).toMatchObject({ status: 404, code: "BLOB_UNKNOWN" });
    expect((await send(`/api/files/${blob}`, { headers: as("anne") })).status).toBe(200);
    expect((await send(`/api/files/${blob}`, { method: "DELETE", headers: as("carla") })).status).toBe(204);
  });

  it("are those of the caller alone where a policy hides sessions, since a file may be of a hidden one", async () => {
    const store = memoryStore();
    const { ask } = accessScene(users, { store, ...accessPolicy({ store }) });
    for (const user of ["anne", "ben"]) await ask("/api/files", { body: user, headers: as(user, { "Content-Type": "text/plain" }) });
    const seenBy = async (user: string): Promise<readonly string[]> =>
      (await ask<Page>("/api/files", { headers: as(user) })).body.files.map(({ by }) => by).sort();
    expect([await seenBy("ben"), await seenBy("carla")]).toEqual([["ben"], ["anne", "ben"]]);
  });

  it("are those that `maySeeFile` shows, in full pages; one that fails hides a file, and the operator alone learns why", async () => {
    const lines: string[] = [];
    const { ask } = accessScene(users, {
      logger: { log: (...line) => void lines.push(JSON.stringify(line)) },
      maySeeFile: ({ user }, { name }) => {
        if (name === "broken.txt") throw new Error("no directory");
        return user === "anne" && name !== "hidden.txt";
      },
    });
    const upload = (name: string, content: string) =>
      ask("/api/files", { body: content, headers: as("anne", { "Content-Type": "text/plain", "X-File-Name": name }) });
    for (let at = 0; at < 12; at++) await upload(at % 2 === 0 ? "hidden.txt" : `seen-${at}.txt`, `file ${at}`);
    await upload("broken.txt", "broken");
    const names = new Set<string | undefined>();
    let next: string | undefined = "";
    const sizes: number[] = [];
    while (next !== undefined) {
      const { body }: { body: Page } = await ask<Page>(`/api/files?limit=3${next === "" ? "" : `&after=${next}`}`, { headers: as("anne") });
      for (const { name } of body.files) names.add(name);
      sizes.push(body.files.length);
      next = body.next;
    }
    expect([names.size, sizes.slice(0, 2)]).toEqual([6, [3, 3]]);
    expect((await ask("/api/files", { headers: as("ben") })).body).toEqual({ files: [] });
    expect(lines.some((line) => line.includes("maySeeFile") && line.includes("no directory"))).toBe(true);
  });
});
