import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContenderName, contenderNames } from "./contenders/contender.ts";
import type { Measurement } from "./measurement.ts";
import { runProcess, startServer } from "./process-runner.ts";
import type { ProfileSummary } from "./profile-summary.ts";
import type { Scene } from "./scenes.ts";

/** What every round measured, by contender. */
export type SceneResults = Readonly<Record<ContenderName, readonly Measurement[]>>;

export interface Rig {
  /** Of the model server. */
  readonly serverUrl: string;
  /** Every contender once a round, the rounds after one another, each beginning with another contender. */
  measure(scene: Scene, rounds: number): Promise<SceneResults>;
  /** Where one contender's time goes. */
  profile(scene: Scene, contender: ContenderName): Promise<ProfileSummary>;
  close(): void;
}

/** The model server, the databases and the processes that are measured. */
export async function createRig(): Promise<Rig> {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), "loopwright-bench-"));
  const databases = new Map<number, string>();
  let copies = 0;

  /** A fresh copy of a session with so many messages. */
  const databaseOf = async (messages: number): Promise<string> => {
    let source = databases.get(messages);
    if (source === undefined) {
      source = join(folder, `history-${messages}.db`);
      await runProcess("history-database.ts", [String(messages), source]);
      databases.set(messages, source);
    }
    const copy = join(folder, `copy-${++copies}.db`);
    copyFileSync(source, copy);
    return copy;
  };

  const once = async (scene: Scene, contender: ContenderName, more: readonly string[] = []): Promise<Measurement> => {
    const hasStore = scene.isStored && contender.startsWith("loopwright");
    const database = hasStore ? [await databaseOf(scene.history ?? 0)] : [];
    const measured = await runProcess<Measurement>("measure-contender.ts", [contender, scene.id, server.url, ...database, ...more]);
    for (const copy of database) for (const end of ["", "-wal", "-shm"]) rmSync(copy + end, { force: true });
    return measured;
  };

  return {
    serverUrl: server.url,
    async measure(scene, rounds) {
      const results: Record<ContenderName, Measurement[]> = { sdk: [], raw: [], "raw-node": [], loopwright: [], "loopwright-node": [] };
      for (let round = 0; round < Math.min(rounds, scene.roundsMax ?? rounds); round++) {
        const first = round % contenderNames.length;
        for (const name of [...contenderNames.slice(first), ...contenderNames.slice(0, first)]) results[name].push(await once(scene, name));
      }
      return results;
    },
    async profile(scene, contender) {
      const { profile } = await once(scene, contender, ["--profile"]);
      if (!profile) throw new Error("The process gave no profile.");
      return profile;
    },
    close() {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
