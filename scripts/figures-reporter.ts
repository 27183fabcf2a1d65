import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Writes `<passed> <failed>` to the file named by TEST_FIGURES, for the last line of `npm test`. A file that cannot be
 * loaded, an error outside tests and a run without tests count as failures; in a whole run, so does a skipped test, so
 * that nothing is left out silently.
 */
export default class FiguresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const file = process.env['TEST_FIGURES'];
    if (file === undefined) return;
    const skippedFails = process.env['TEST_WHOLE_RUN'] === 'yes';
    let passed = 0;
    let failed = unhandledErrors.length;
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') {
          passed += 1;
        } else if (state === 'failed') {
          failedHere += 1;
        } else if (skippedFails) {
          failedHere += 1;
          process.stderr.write(`✗ not run: ${module.project.name} ${module.relativeModuleId} > ${test.fullName}\n`);
        }
      }
      // A file that cannot be loaded, or a hook that throws, fails without a failed test.
      if (failedHere === 0 && module.state() === 'failed') failedHere = 1;
      failed += failedHere;
    }
    if (passed + failed === 0) failed = 1;
    writeFileSync(file, `${passed} ${failed}\n`);
  }
}
