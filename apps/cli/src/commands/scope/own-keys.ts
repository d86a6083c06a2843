import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import { userSettings } from "@loopwright/user-settings";
import { localScope, openExistingStore } from "../../compose/kept-sessions.ts";
import { unmarkOwnKeys } from "../../compose/own-keys/own-keys-mark.ts";
import { openRecords, openSecrets } from "../../compose/own-keys/own-keys-places.ts";
import { exitCodes } from "../../exit-code.ts";
import { type SharedFlags, settingsOf } from "../../flags.ts";
import { clientOf } from "../../remote/remote-place.ts";
import { type ServerFlags, serverOf } from "../../remote/server-address.ts";
import { jsonLine } from "../../terminal/json-line.ts";
import { oneLine } from "../../terminal/neutralise.ts";
import { print } from "../sessions.ts";

interface PlanFlags extends SharedFlags, ServerFlags {
  readonly scope?: string;
  readonly json?: boolean;
}

/** Whose plan it is, and the one to set. */
interface WantedPlan {
  readonly user: string;
  readonly plan: string | undefined;
}

/** Prints the plan of a user, after it was set where one was given. @throws AgentError INPUT_INVALID, FORBIDDEN, ROUTE_NOT_FOUND, STORE_* */
export async function planOf({ user, plan }: WantedPlan, flags: PlanFlags): Promise<number> {
  const now = flags.url === undefined ? await localPlan({ user, plan }, flags) : await remotePlan({ user, plan }, flags);
  print(flags.json ? jsonLine(now) : oneLine(`${now.user} ${now.plan}`, 300));
  return exitCodes.ok;
}

interface UserPlan {
  readonly user: string;
  readonly plan: string;
}

async function remotePlan({ user, plan }: WantedPlan, flags: PlanFlags): Promise<UserPlan> {
  if (flags.scope !== undefined)
    throw new AgentError("INPUT_INVALID", {
      message: "`--scope` is for a store: a server takes the scope of the caller.",
      fix: "Leave it out.",
    });
  const { settings } = clientOf(await serverOf(flags));
  return plan === undefined ? settings.plan(user) : settings.setPlan(user, plan);
}

async function localPlan({ user, plan }: WantedPlan, { scope = localScope, ...flags }: PlanFlags): Promise<UserPlan> {
  if (!isId(scope))
    throw new AgentError("INPUT_INVALID", {
      message: `\`${oneLine(scope, 64)}\` is no scope.`,
      fix: "Use 1 to 64 of a to z, 0 to 9, `_` and `-`.",
    });
  const { records, close } = await openRecords(await settingsOf({ ...flags, offline: true }));
  try {
    const settings = userSettings({ records });
    if (plan !== undefined) await settings.setPlan({ scope, user }, plan);
    return { user, plan: (await settings.settingsOf({ scope, user })).plan };
  } finally {
    await close();
  }
}

/** Encrypts the keys of users under the current master key. @throws AgentError CONFIG_INVALID, SECRET_UNREADABLE, STORE_* */
export async function resealKeys(flags: SharedFlags): Promise<number> {
  const { secrets, close } = await openSecrets(await settingsOf({ ...flags, offline: true }));
  try {
    const count = await secrets.rewrap();
    const scopes = count === 1 ? "1 scope" : `${count} scopes`;
    process.stderr.write(
      `The keys of ${scopes} were put under the current master key. LOOPWRIGHT_OLDER_MASTER_KEYS is not needed any more.\n`,
    );
    return exitCodes.ok;
  } finally {
    await close();
  }
}

/** Lets processes run without users' keys again; the keys stay. @throws AgentError STORE_* */
export async function endOwnKeys(flags: SharedFlags): Promise<number> {
  const store = await openExistingStore(await settingsOf({ ...flags, offline: true }));
  try {
    const isEnded = store !== undefined && (await unmarkOwnKeys(store));
    process.stderr.write(
      isEnded
        ? "Processes without --own-keys call models with the deployment's key for all users again. The keys of users are kept.\n"
        : "No process on this store takes keys of users.\n",
    );
    return exitCodes.ok;
  } finally {
    await store?.close();
  }
}
