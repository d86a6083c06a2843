import type { ReportProblem } from "@loopwright/chat-kit";
import type { Clock } from "@loopwright/core/protocol";
import type { WebClient } from "@slack/web-api";
import { errorOfSlack } from "./slack-api.ts";
import { nameLifeMs, namesMax } from "./slack-limits.ts";

/** The name of a person as others see it; its id where Slack does not give the name. */
export type NameOf = (person: string) => Promise<string>;

interface NamesParts {
  readonly api: WebClient;
  readonly clock: Pick<Clock, "now">;
  readonly report: ReportProblem;
}

/** Asks for the names of people, and keeps them for an hour. */
export function peopleNames({ api, clock, report }: NamesParts): NameOf {
  const kept = new Map<string, { readonly name: string; readonly until: number }>();
  let isReported = false;
  return async (person) => {
    const known = kept.get(person);
    if (known && known.until > clock.now()) return known.name;
    const name = await api.users.info({ user: person }).then(
      ({ user }) => [user?.profile?.display_name, user?.real_name, user?.name].find((one) => one !== undefined && one !== "") ?? person,
      (error: unknown) => {
        if (!isReported) report("Slack did not give the name of a person: its id stands for it.", errorOfSlack(error));
        isReported = true;
        return person;
      },
    );
    kept.delete(person);
    kept.set(person, { name, until: clock.now() + nameLifeMs });
    const [oldest] = kept.keys();
    if (kept.size > namesMax && oldest !== undefined) kept.delete(oldest);
    return name;
  };
}
