/** Name of the setting of a database whose installation goes on elsewhere: its ledger takes no more entries. */
export const MOVED_TO = 'moved_to';
