# Everything is built once, in release: kernels are a hundred times slower in debug, and preconditions hold in both.
BUILD := .build/release
SWIFT_BUILD := swift build -c release

# Each kind of fault once. Not beside `swift test`, whose load would make a time limit of three seconds expire.
FAULT_SEEDS := 1-53
# Each way to disturb prepared shards, on two jobs.
SHARD_SEEDS := 1-10
# Each way to kill a service, its runs and their workers, twice.
SERVICE_SEEDS := 1-6
MINUTES := 10
COUNT := 5000

# Where `make install` puts the programs, and a folder to write into in place of /, for packages.
PREFIX := /usr/local
DESTDIR :=
VERSION = $(shell sed -n 's/.*let penumbra = "\(.*\)"/\1/p' Sources/Farm/WorkerProtocol/Version.swift)

.PHONY: demo test test-page test-slurm build programs setup setup-tests format lint bench soak fuzz mutants docs gallery clean
.PHONY: install uninstall dist sbom licenses deb test-deb setup-packaging check-dependencies

## make demo: set up, build, run the jobs of jobs/ on their pictures, and say where the results are
demo: setup
	$(SWIFT_BUILD)
	Scripts/demo

## make test: set up, build, lint and run all tests
test: setup-tests build lint
	Scripts/test --skip '^(HTTPServiceTests|NotificationsTests)\.'
	# Their servers answer on the few threads of tests, which others block for long.
	Scripts/test --filter '^(HTTPServiceTests|NotificationsTests)\.'
	Tests/Packaging/packaging-suite
	$(BUILD)/penumbra-faults run --seeds $(FAULT_SEEDS)
	$(BUILD)/penumbra-faults run --family shards --seeds $(SHARD_SEEDS)
	$(BUILD)/penumbra-faults run --family service --seeds $(SERVICE_SEEDS)

## make test-page: look at the service's page in a headless Chromium, in all states and sizes, for some minutes; its screenshots are
## in .build/page-screenshots
test-page: setup-tests
	$(SWIFT_BUILD)
	Scripts/check-page --screenshots .build/page-screenshots

## make test-slurm: install Slurm, prove that a cluster of its own starts, breaks as asked and leaves nothing behind, and run
## jobs on it that are disturbed
test-slurm:
	Scripts/setup --slurm
	Tests/Slurm/cluster-selftest
	$(SWIFT_BUILD)
	Tests/Slurm/engine-suite

## make test-iiif: render a picture for IIIF viewers, and let the validator of the IIIF community look at it
.PHONY: test-iiif
test-iiif: setup-tests
	$(SWIFT_BUILD)
	Scripts/validate-iiif

## make test-thread: run the modules' tests with ThreadSanitizer, which finds data races (GROUPS="farm service" for
## some of them)
## make test-address: run them with AddressSanitizer, which finds faults of memory
.PHONY: test-thread test-address test-sanitized
test-thread test-address: setup
	Scripts/test-sanitized $(@:test-%=%) $(GROUPS)

## make test-sanitized PART=17: one group of tests with one sanitizer, another pair for each number
test-sanitized: setup
	Scripts/test-sanitized --part $(PART)

## make test-arm64: compile the kernels for arm64, run them in an emulator, and compare their pixels with those of this machine
.PHONY: test-arm64
test-arm64: setup
	Scripts/test-arm64

build: setup
	$(SWIFT_BUILD) --build-tests

## make programs: build the programs and plugins, without tests
programs: setup
	$(SWIFT_BUILD)

## make install PREFIX=/usr/local DESTDIR=: install the built programs; make uninstall removes them again
install:
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Scripts/install-files install

uninstall:
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Scripts/install-files uninstall

## make dist: the sources of a release in dist, with those of all Swift packages; they build without a network. It fails if the packages
## are not the recorded ones
dist:
	Scripts/make-dist

## make sbom: two bills of materials of the programs in dist, CycloneDX and SPDX; it fails if a license is unknown, or if the packages
## are not the recorded ones
sbom: programs check-dependencies
	mkdir -p dist
	Scripts/make-sbom --output dist/penumbra-$(VERSION).cdx.json --spdx dist/penumbra-$(VERSION).spdx.json

## make licenses: the license texts of all that is shipped with the programs, in dist
licenses: programs
	mkdir -p dist
	Scripts/make-sbom --licenses dist/THIRD-PARTY-LICENSES

## make deb: Debian packages of the programs and of the site, in .build/deb (ARGUMENTS=--fast compresses little, for a try)
deb: setup-packaging programs check-dependencies site
	Scripts/make-deb $(ARGUMENTS)

## make test-deb: try the packages in a Debian 12 of their own: install, render, upgrade, serve, build plugins, purge (as root)
test-deb: setup-packaging programs
	Scripts/test-deb

setup-packaging:
	Scripts/setup --packaging

## make check-dependencies: compare the Swift packages with packaging/dependencies.json, which has those of the releases. It needs no
## network. 'Scripts/dependencies --resolve' takes the recorded ones
check-dependencies:
	Scripts/dependencies --check

## make setup: install what the build needs (Debian packages; as root or with sudo)
setup:
	Scripts/setup

setup-tests:
	Scripts/setup --tests

## make format: lay the sources out
format:
	swift format --in-place --recursive Package.swift Sources Plugins Tests Examples

## make lint: refuse sources that are laid out otherwise, names that nothing uses, words that users see under two names, files whose
## license nobody has read, and tests that no sanitizer knows
lint:
	swift format lint --strict --recursive Package.swift Sources Plugins Tests Examples
	Scripts/dead-names
	Scripts/mixed-words
	Scripts/check-licenses
	# It fails if a folder of tests is in no group. CI would find that last.
	Scripts/test-sanitized --list >/dev/null
	# A newer version that passes the tests is fine for everybody but a release.
	Scripts/dependencies --check --warn

.PHONY: reference manual

## make reference: write docs/reference from what the programs say of themselves
reference: setup-tests
	$(SWIFT_BUILD)
	Scripts/make-reference --program $(BUILD)/penumbra

## make manual: write the manual pages into .build/man
manual: setup
	$(SWIFT_BUILD)
	Scripts/make-manual --program $(BUILD)/penumbra

## make bench: race kernels and whole jobs against what users would take instead, and measure the scheduler and the service, in about
## half an hour (ARGUMENTS=--quick for a few of them; ARGUMENTS="jobs --only c", "kernels --quick" or "service" for one part)
bench: setup
	$(SWIFT_BUILD)
	Scripts/bench $(ARGUMENTS)

## make soak: run jobs while faults are injected, with new seeds, for ten minutes (MINUTES=60 for longer)
soak: setup
	$(SWIFT_BUILD)
	$(BUILD)/penumbra-faults run --minutes $(MINUTES)

## make fuzz: let libFuzzer at all that reads bytes of strangers, each target for 30 seconds (SECONDS=n for longer,
## TARGETS="glob cron" for some of them)
fuzz: build
	Scripts/fuzz --seconds $(or $(SECONDS),30) $(TARGETS)

## make fuzz-long HOURS=8: the same for hours, then smaller corpora and a table in .build/fuzz/table.md
.PHONY: fuzz-long
fuzz-long: build
	Scripts/fuzz --hours $(or $(HOURS),8) $(TARGETS)

## make mutants: run mutated pictures of all formats through the programs (COUNT=50000 for more, SANITIZE=address for a
## worker with AddressSanitizer; .build/mutants has the findings)
mutants: programs
ifeq ($(SANITIZE),address)
	$(SWIFT_BUILD) --sanitize=address --scratch-path .build/address --product penumbra-worker
	Tests/Fuzzing/mutants --count $(COUNT) --sanitized .build/address/release/penumbra-worker --out .build/mutants-address
else
	Tests/Fuzzing/mutants --count $(COUNT)
endif

## make site: the documentation as a site of static files in .build/site; dead links fail
.PHONY: site
site:
	Scripts/setup --docs
	Scripts/site

## make docs: the modules' documentation as a static site in .build/docs
docs: setup
	Scripts/docs

## make gallery: run the manifests of jobs/effects, write docs/gallery.md with pictures of what they make, and take the screenshots
## of the service's page in docs/page
gallery: setup-tests
	$(SWIFT_BUILD)
	Scripts/gallery

clean:
	rm -rf .build dist jobs/out jobs/generated
