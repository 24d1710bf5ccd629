#!/bin/sh
# Installs the real coding agents that the tests of this folder drive, each in a folder of its own below $1.
#   sh tests/e2e/clients/install.sh ~/clients && INTERLOCK_TEST_CLIENTS=~/clients make test
# About 1.5 GB; needs node >= 20 and npm. Nothing is installed for all users. Licences of the agents are their makers'.
set -eu
to=${1:?"give the folder to install into"}
put() {
    mkdir -p "$to/$1"
    folder=$1
    shift
    (cd "$to/$folder" && { [ -f package.json ] || npm init -y >/dev/null; } && npm install --ignore-scripts "$@")
}
# versions are named: npm would pick an older one for an older node
put cc @anthropic-ai/claude-code@2.1.332
put codex @openai/codex@0.171.0
put gemini @google/gemini-cli@0.61.0
put opencode opencode-ai@1.18.33
# what opencode fetches at its first start, which takes it minutes; the tests copy it into their homes
put opencode-home/.config/opencode --save-exact @opencode-ai/plugin@1.18.33
put acp @zed-industries/claude-agent-acp@0.23.1 @zed-industries/codex-acp@0.16.0
echo "installed in $to: run the tests with INTERLOCK_TEST_CLIENTS=$to"
