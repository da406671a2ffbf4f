# A thin front for CMake. `make help` lists what there is.
PREFIX ?= /usr/local

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile

demo: ## install what is needed, build, measure the SQLite shell at work, show the report
	@scripts/demo

check: ## install what is needed, build, run all tests
	@scripts/check

check-all: ## the same, and what takes long: programs that print their own truth at every level, further levels of others
	@scripts/check --all

check-compilers: ## GCC 13 to 16, Clang 17 to 22 in chroots of Debian 13 and sid: tests of constructs, truths, the demo; prints a table (root; two hours)
	@scripts/check-compilers

deb: ## Debian packages for Debian 13, built, checked with lintian and tried in chroots; in build/deb (root; scripts/build-deb SUITE: others)
	@scripts/build-deb

check-busy: ## every test 10 times while other work keeps all processors busy (hours; goes on where it was stopped)
	@scripts/check --busy 10 --resume

build: ## build into build/release (packages: scripts/install-deps build)
	cmake --preset release -DPERFMAP_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build --preset release

install: build ## install below PREFIX (/usr/local); DESTDIR is respected
	cmake --install build/release

bench: ## measure what PerfMap and its peers cost; prints two tables (about 20 minutes; tests/bench/run -q: 5)
	@tests/bench/run

soak: build ## kill a measured program 1000 times at random; its file is always readable and right (PERFMAP_TEST_KILLS=n)
	@mkdir -p build/soak
	@cd build/soak && PERFMAP_TEST_KILLS=$${PERFMAP_TEST_KILLS:-1000} PERFMAP_BUILD=$(CURDIR)/build/release PERFMAP_SOURCE=$(CURDIR) \
		$(CURDIR)/tests/system/manners-ends/run killed_at_any_time killed_late

format: ## bring all C files into the house's form
	scripts/check-format --fix

clean: ## remove build/
	rm -rf build

.PHONY: help demo check check-all check-compilers deb check-busy build install bench soak format clean
