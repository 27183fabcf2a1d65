import type { Command } from 'commander';
import type { CommandIo } from './command-io.ts';
import { registerPolicyBulk } from './policy-bulk.ts';
import { registerPolicyGenerate } from './policy-generate.ts';
import { registerPolicyList } from './policy-list.ts';
import { registerPolicyPublish } from './policy-publish.ts';
import { registerPolicyShow } from './policy-show.ts';
import { registerPolicySnapshots } from './policy-snapshot.ts';
import { registerPolicyText } from './policy-stored-text.ts';

/** `policy …`: drive the service: generate, bulk, list, publish, and what is known of each policy. */
export function registerPolicy(program: Command, io: CommandIo): void {
  const policy = program
    .command('policy')
    .description('policies at the service: generate, publish, list, texts and their changes');
  registerPolicyGenerate(policy, io);
  registerPolicyBulk(policy, io);
  registerPolicyList(policy, io);
  registerPolicyPublish(policy, io);
  registerPolicyShow(policy, io);
  registerPolicySnapshots(policy, io);
  registerPolicyText(policy, io);
}
