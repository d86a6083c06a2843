import { introduction } from "../compose/introduction.ts";
import { storeText, withoutSecret } from "../config/store-place.ts";
import type { FoundPage } from "./find-page.ts";
import type { ServeParts } from "./serve-parts.ts";

interface Welcome extends Pick<ServeParts, "workplace" | "wishes" | "links"> {
  readonly port: number | undefined;
  /** Absent: nothing is listened on. */
  readonly url: string | undefined;
  readonly page: FoundPage;
}

/** The message for people when a process has begun. */
export function welcome(parts: Welcome): readonly string[] {
  const { workplace, wishes, port, links } = parts;
  const { settings } = workplace;
  return [
    ...firstLines(parts),
    ...(port === undefined || port === wishes.port || wishes.port === 0 ? [] : [`Port ${wishes.port} is taken, so it is ${port}.`]),
    ...(wishes.isOpenToAll && port !== undefined
      ? ["WARNING: every caller that reaches this machine may talk to the agent and read all sessions (--insecure)."]
      : []),
    ...(port === undefined ? [] : callerLines(wishes)),
    introduction(workplace),
    `Sessions are kept in ${storeText(settings.store)}`,
    ...(settings.channelUrl === undefined ? [] : [`Events are shared over ${withoutSecret(settings.channelUrl)}`]),
    ...(settings.queueUrl === undefined ? [] : [`Work is shared over ${withoutSecret(settings.queueUrl)}`]),
    `Ctrl+C stops it (process ${process.pid}). ${wishes.role === "server" ? "Sessions run in workers." : `Open runs are kept and continue ${links.queue ? "at another node" : "at the next start"}.`}`,
  ];
}

/** What callers have to send. Addresses are shown without their passwords and queries. */
function callerLines({ token, auth }: Welcome["wishes"]): readonly string[] {
  if (!auth) return token === undefined ? [] : ["Callers have to send the token: `Authorization: Bearer <token>`. The page asks for it."];
  const { issuer, service } = auth;
  if (!issuer && !service && token === undefined)
    return ["Services of this machine send the internal token. The page needs none, unless other machines can reach this server."];
  const checks = [
    ...(issuer ? [`tokens of ${issuer.issuer}`] : []),
    ...(service ? [`tokens that ${new URL(service.url).origin} accepts`] : []),
    ...(token === undefined ? [] : ["the token of this server"]),
    ...(auth.internalToken === undefined ? [] : ["from services of this machine the internal token"]),
  ];
  return [`Callers have to send credentials: ${checks.join(", ")}. The page asks for them.`];
}

function firstLines({ wishes, url, page }: Welcome): readonly string[] {
  if (wishes.role === "worker") {
    const asked = url === undefined ? "" : `; /healthz, /readyz and /metrics are at ${url}`;
    return [`Loopwright runs the sessions that servers record${asked}`];
  }
  return [`Loopwright serves ${"directory" in page ? "the page" : "its API"} at ${url}`, ...("missing" in page ? [page.missing] : [])];
}
