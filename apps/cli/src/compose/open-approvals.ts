import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ApprovalRuleStore, type Approvals, createApprovals } from "@loopwright/approvals";
import { type SqliteRules, sqliteRules } from "@loopwright/approvals/node";
import type { Agent } from "@loopwright/core";
import type { Settings } from "../settings/settings.ts";

const fileName = "approvals.db";

/** Remembers decisions for later calls, in `approvals.db` beside the store's file or in `.loopwright/`. The file is made with the first rule. */
export function openApprovals({ store }: Pick<Settings, "store">): Approvals & { readonly rules: ApprovalRuleStore } {
  const folder = store.kind === "sqlite" ? dirname(store.file) : store.kind === "files" ? store.folder : resolve(".loopwright");
  const path = join(folder, fileName);
  let opened: SqliteRules | undefined;
  const open = (): SqliteRules => {
    opened ??= sqliteRules({ path });
    return opened;
  };
  const known = (): SqliteRules | undefined => (opened || existsSync(path) ? open() : undefined);
  const rules: ApprovalRuleStore = {
    put: async (owner, rule) => open().put(owner, rule),
    list: async (owner, toolName) => (await known()?.list(owner, toolName)) ?? [],
    delete: async (owner, id) => (await known()?.delete(owner, id)) ?? false,
    clear: async (owner) => (await known()?.clear(owner)) ?? 0,
  };
  return { ...createApprovals({ rules }), rules };
}

/** The agent, whose calls that ask for approval are settled by earlier decisions. An agent that never asks stays as it is. */
export function withApprovals(agent: Agent, { hooks }: Approvals): Agent {
  const asks = agent.tools.some(({ approval }) => approval !== undefined) || agent.hooks.some(({ gate }) => gate !== undefined);
  return asks ? Object.freeze({ ...agent, hooks: [...agent.hooks, hooks] }) : agent;
}
