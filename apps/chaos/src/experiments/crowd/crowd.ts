import { type Person, type PersonOptions, startPerson } from "../../world/people/person.ts";
import { post } from "../../world/people/post.ts";
import { startWatcher, type Watcher, type WatcherProfile } from "../../world/people/watcher.ts";
import { guest, home, type Tenant, tenantWords } from "../../world/tenants.ts";
import type { World } from "../../world/world.ts";

export interface CrowdOptions {
  readonly world: World;
  readonly sessions: number;
  readonly random: () => number;
  readonly jobProfile: PersonOptions["jobProfile"];
  /** One watcher per entry and session; the first one belongs to the user of the session. */
  readonly watchers: readonly WatcherProfile[];
  /** The number of sessions of a second tenant, counted from the last one. Default: a quarter. */
  readonly guests?: number;
}

/** One session, its simulated user, and its watchers. */
export interface Place {
  readonly id: string;
  readonly tenant: Tenant;
  readonly watchers: readonly Watcher[];
  readonly person: Person;
}

/** People and watchers on the sessions of a world. */
export interface Crowd {
  readonly places: readonly Place[];
  /** The number of times that watchers have reconnected so far. */
  readonly reconnects: number;
}

/** Creates the sessions and lets the simulated users send messages, until the results are checked. */
export async function gatherCrowd({
  world,
  sessions,
  random,
  jobProfile,
  watchers: profiles,
  guests = Math.floor(sessions / 4),
}: CrowdOptions): Promise<Crowd> {
  const pick = (): string => world.pick(random);
  const places = await Promise.all(
    Array.from({ length: sessions }, async (_, index): Promise<Place> => {
      const id = `s${index}`;
      const tenant = index < sessions - guests ? home : guest;
      const { headers } = tenant;
      const words = Object.values(tenantWords);
      const receive = (text: string): void => world.hunt.receive(`what a node answers in ${id}`, text);
      const all = { sessionId: id, pick, random, headers };
      await post({ pick, path: "/api/sessions", body: { id }, key: `open-${id}`, headers, receive });
      const watchers = profiles.map((one, watcher) => {
        const place = `what watcher ${watcher} of ${id} is notified`;
        return startWatcher({ ...all, words, profile: one, receive: (piece) => world.hunt.receive(place, piece) });
      });
      const person = startPerson({ ...all, jobProfile, receive, word: tenant.word, watcher: watchers[0] as Watcher });
      return { id, tenant, watchers, person };
    }),
  );
  return {
    places,
    get reconnects() {
      return places.flatMap(({ watchers }) => watchers).reduce((sum, { connections }) => sum + Math.max(0, connections - 1), 0);
    },
  };
}
