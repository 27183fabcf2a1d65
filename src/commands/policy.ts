import type { Command } from 'commander';
import type { CommandIo } from './command-io.ts';
import { registerPolicyList } from './policy-list.ts';

/** `policy …`: drive the service: generate, bulk, list, publish, and what is known of each policy. */
export function registerPolicy(program: Command, io: CommandIo): void {
  const policy = program.command('policy').description('policies of the service: what there is, and making more');
  registerPolicyList(policy, io);
}
