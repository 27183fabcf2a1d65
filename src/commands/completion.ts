import { Argument, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CommandIo } from './command-io.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

const installing = {
  bash: 'consent-ledger completion bash >~/.local/share/bash-completion/completions/consent-ledger',
  zsh: "echo 'source <(consent-ledger completion zsh)' >>~/.zshrc",
  fish: 'consent-ledger completion fish >~/.config/fish/completions/consent-ledger.fish',
} as const;

/** `completion`: a script that completes commands and options in a shell. `whole`: the program with all commands. */
export function registerCompletion(
  program: CommandUnknownOpts,
  io: CommandIo,
  whole: () => Promise<CommandUnknownOpts>,
): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which shell it is for').choices(shells))
    .description('print a script that completes commands, options and their values in bash, zsh or fish')
    .option('--json', 'print the script in a JSON document')
    .addHelpText(
      'after',
      `\nTo install it, once:\n${shells.map((shell) => `  ${shell.padEnd(5)}  ${installing[shell]}`).join('\n')}`,
    )
    .action(async (shell, options) => {
      const levels = levelsOf(await whole());
      const script = shell === 'fish' ? fishScript(levels) : shell === 'zsh' ? zshScript(levels) : bashScript(levels);
      io.stdout.write(options.json ? `${JSON.stringify({ shell, script }, null, 2)}\n` : script);
    });
}

interface CompletedOption {
  readonly names: readonly string[];
  readonly long: string | null;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** A command, by the words after the program's name, with what may follow it. */
interface Level {
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** The possible values of its arguments. */
  readonly choices: readonly string[];
}

function levelsOf(command: CommandUnknownOpts, path: readonly string[] = []): Level[] {
  const options = command.createHelp().visibleOptions(command);
  return [
    {
      path,
      commands: command.commands.map((child) => ({ name: child.name(), description: child.description() })),
      options: options.map(({ short, long, description, required, optional, argChoices = [] }) => ({
        names: [short, long].filter((name) => name !== undefined),
        long: long ?? null,
        description,
        takesValue: required || optional,
        choices: argChoices,
      })),
      choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    },
    ...command.commands.flatMap((child) => levelsOf(child, [...path, child.name()])),
  ];
}

/** Names of commands, options and choices are our own; anything else that one might contain stays inside the quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function keyOf({ path }: Level): string {
  return path.map((name) => ` ${name}`).join('');
}

function bashScript(levels: readonly Level[]): string {
  return `# Completes consent-ledger in bash. Made by: consent-ledger completion bash\n${bashFunction(levels)}complete -o default -F _consent_ledger consent-ledger\n`;
}

/** zsh runs the bash version; its own completion has to be loaded first. */
function zshScript(levels: readonly Level[]): string {
  return `# Completes consent-ledger in zsh. Made by: consent-ledger completion zsh
autoload -U +X compinit
(( $+functions[compdef] )) || compinit
autoload -U +X bashcompinit && bashcompinit
${bashFunction(levels)}complete -o default -F _consent_ledger consent-ledger
`;
}

function bashFunction(levels: readonly Level[]): string {
  const deeper = levels.filter(({ path }) => path.length > 0).map((level) => quoted(keyOf(level)));
  const withValues = levels.flatMap((level) =>
    level.options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ names, choices }) => names.map((name) => ({ key: quoted(`${keyOf(level)}:${name}`), choices }))),
  );
  const cases = levels.map((level) => {
    const words = [
      ...level.commands.map(({ name }) => name),
      ...level.choices,
      ...level.options.flatMap(({ names }) => names.filter((name) => name.startsWith('--'))),
    ];
    return `    ${quoted(keyOf(level))}) words=${quoted(words.join(' '))} ;;`;
  });
  return `_consent_ledger() {
  local path='' words='' before='' current="\${COMP_WORDS[COMP_CWORD]}" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    # What follows an option that takes a value is not a command.
    if _consent_ledger_value "$path:$before"; then before=''; continue; fi
    case "$path $word" in
      ${deeper.join(' | ')}) path="$path $word" ;;
    esac
    before="$word"
  done
  COMPREPLY=()
  if _consent_ledger_value "$path:$before"; then
    words="$_consent_ledger_choices"
  else
    case "$path" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
  fi
  for word in $words; do
    case "$word" in "$current"*) COMPREPLY+=("$word") ;; esac
  done
}
# Whether this option of this command takes a value; its choices.
_consent_ledger_value() {
  _consent_ledger_choices=''
  case "$1" in
${withValues.map(({ key, choices }) => `    ${key}) _consent_ledger_choices=${quoted(choices.join(' '))} ;;`).join('\n')}
    *) return 1 ;;
  esac
}
`;
}

function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap((level) => {
    const at = `-n ${fishQuoted(`__consent_ledger_at ${level.path.join(' ')}`.trimEnd())}`;
    const hasNames = level.commands.length + level.choices.length > 0;
    return [
      ...level.commands.map(
        ({ name, description }) =>
          `complete -c consent-ledger ${at} -f -a ${fishQuoted(name)} -d ${fishQuoted(description)}`,
      ),
      ...(level.choices.length > 0
        ? [`complete -c consent-ledger ${at} -f -a ${fishQuoted(level.choices.join(' '))}`]
        : hasNames
          ? []
          : [`complete -c consent-ledger ${at} -F`]),
      ...level.options.flatMap(({ long, description, takesValue, choices }) => {
        if (long === null) return [];
        const value = takesValue ? (choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(' '))}` : ' -r') : '';
        return [`complete -c consent-ledger ${at} -l ${long.slice(2)}${value} -d ${fishQuoted(description)}`];
      }),
    ];
  });
  const paths = levels.filter(({ path }) => path.length > 0).map(({ path }) => fishQuoted(path.join(' ')));
  const values = levels.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ names }) => names.map((name) => fishQuoted(`${path.join(' ')}:${name}`))),
  );
  return `# Completes consent-ledger in fish. Made by: consent-ledger completion fish
set -g __consent_ledger_paths ${paths.join(' ')}
set -g __consent_ledger_values ${values.join(' ')}
# Whether the words so far lead to this command.
function __consent_ledger_at
    set -l at
    set -l before
    for word in (commandline -opc)[2..]
        # What follows an option that takes a value is not a command.
        if contains -- "$at:$before" $__consent_ledger_values
            set before
            continue
        end
        set -l deeper (string join -- ' ' $at $word)
        contains -- "$deeper" $__consent_ledger_paths; and set -a at $word
        set before $word
    end
    test "$at" = "$argv"
end
${lines.join('\n')}
`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', ' ')}'`;
}
