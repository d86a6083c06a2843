import type { Access, Labels } from "@loopwright/core";

/** What a deployment knows of a user, asked before each model call. */
export interface UserSettings {
  /** Name of the plan, for the table of plans. */
  readonly plan: string;
  /** How the user wants to be answered. */
  readonly personalization?: { readonly enabled: boolean; readonly text: string };
  /** What is remembered of the user; `enabled: false` also takes the tools for memories away. */
  readonly memory?: { readonly enabled: boolean; readonly profile?: string };
  /** The rule of the project that the session belongs to. */
  readonly projectRule?: string;
}

/** Where plans and settings of users come from. */
export interface SettingsSource {
  /** Asked often: keep what is slow to read. An error fails the run. */
  settingsOf(access: Access, labels: Labels): UserSettings | Promise<UserSettings>;
}

/** What a plan gives to one agent with one model. */
export interface PlanLimits {
  /** Tokens of one request. */
  readonly contextLimit: number;
  /** Tool calls of a run that count; 0: no limit. */
  readonly toolCallsLimit: number;
  /** Whether the model may call several tools in one turn. */
  readonly parallel: boolean;
}

/** The limits of a plan. Throw for a plan that does not exist. */
export type PlanTable = (plan: string, model: string, agent: string) => PlanLimits;

/** One user for everyone, without limits. */
export const defaultSettings: SettingsSource = { settingsOf: () => ({ plan: "default" }) };

/** 128,000 tokens, 20 tool calls, and parallel calls, whatever the plan. */
export const defaultPlans: PlanTable = () => ({ contextLimit: 128_000, toolCallsLimit: 20, parallel: true });
