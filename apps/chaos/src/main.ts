/** The rig. */
export {};
