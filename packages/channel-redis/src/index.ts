/** Carries the events of sessions between nodes over Redis. */
export {};
