import { DatabaseSync } from "node:sqlite";
import { AgentError } from "@loopwright/core";
import type { ApprovalRule } from "@loopwright/core/ports";
import { rulesFull } from "../in-memory-rules.ts";
import { type ApprovalRuleStore, type RuleOwner, ruleLimits } from "../rule-store.ts";

export interface SqliteRulesOptions {
  /** The file; it is made where it is missing, its folder is not. `:memory:`: none. */
  readonly path: string;
  /** Milliseconds that a call waits, with this process, for one that writes the same file. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** A store that holds a file open. */
export interface SqliteRules extends ApprovalRuleStore {
  close(): void;
}

const schema = `
  CREATE TABLE IF NOT EXISTS approval_rules (
    scope TEXT NOT NULL, user TEXT NOT NULL, id TEXT NOT NULL, tool TEXT NOT NULL, created_at INTEGER NOT NULL, rule TEXT NOT NULL,
    PRIMARY KEY (scope, user, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS approval_rules_by_tool ON approval_rules (scope, user, tool, created_at DESC, id);
`;

/**
 * Rules in one SQLite file. Several processes may use it. @throws AgentError STORE_UNAVAILABLE when the file cannot be opened
 */
export function sqliteRules({ path, busyTimeoutMs = 5_000 }: SqliteRulesOptions): SqliteRules {
  const database = open(path, busyTimeoutMs);
  const newest = "ORDER BY created_at DESC, id";
  const statements = {
    all: database.prepare(`SELECT rule FROM approval_rules WHERE scope = ? AND user = ? ${newest}`),
    ofTool: database.prepare(`SELECT rule FROM approval_rules WHERE scope = ? AND user = ? AND tool = ? ${newest}`),
    // One statement, so that two processes together never keep too many.
    put: database.prepare(`
      INSERT INTO approval_rules (scope, user, id, tool, created_at, rule) SELECT :scope, :user, :id, :tool, :createdAt, :rule
      WHERE EXISTS (SELECT 1 FROM approval_rules WHERE scope = :scope AND user = :user AND id = :id)
        OR (SELECT count(*) FROM approval_rules WHERE scope = :scope AND user = :user) < :most
      ON CONFLICT (scope, user, id) DO UPDATE SET tool = excluded.tool, created_at = excluded.created_at, rule = excluded.rule`),
    delete: database.prepare("DELETE FROM approval_rules WHERE scope = ? AND user = ? AND id = ?"),
    clear: database.prepare("DELETE FROM approval_rules WHERE scope = ? AND user = ?"),
  };
  return {
    async put({ scope, user }, rule) {
      const { id, toolName: tool, createdAt } = rule;
      const { changes } = statements.put.run({
        scope,
        user,
        id,
        tool,
        createdAt,
        rule: JSON.stringify(rule),
        most: ruleLimits.perOwnerMax,
      });
      if (changes === 0) throw rulesFull();
    },
    async list({ scope, user }: RuleOwner, toolName) {
      const rows = toolName === undefined ? statements.all.all(scope, user) : statements.ofTool.all(scope, user, toolName);
      return rows.map((row) => JSON.parse(String(row["rule"])) as ApprovalRule);
    },
    delete: async ({ scope, user }, id) => Number(statements.delete.run(scope, user, id).changes) === 1,
    clear: async ({ scope, user }) => Number(statements.clear.run(scope, user).changes),
    close: () => database.close(),
  };
}

function open(path: string, timeout: number): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout });
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;");
    database.exec(schema);
    return database;
  } catch (cause) {
    throw new AgentError("STORE_UNAVAILABLE", {
      message: "The file of the rules for approvals could not be opened.",
      fix: "Check its path and permissions.",
      cause,
    });
  }
}
