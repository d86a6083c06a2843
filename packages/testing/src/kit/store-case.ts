import type { KitCase } from "./kit.ts";

/** Gives a fresh adapter at every call. */
export type Make<Subject> = () => Promise<Subject>;

/** A promise of a store's port. Saboteurs name it by its id. */
export interface StoreCase<Subject> extends KitCase<Make<Subject>> {
  /** Short and stable. */
  readonly id: string;
}

/** The promises of a store's port. */
export type StoreKit<Subject> = readonly StoreCase<Subject>[];
