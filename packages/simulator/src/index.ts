/** Deterministic simulation of agents: many nodes, a virtual clock, a faulty store, and a crash at any step, from one seed. */
export {};
