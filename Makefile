.PHONY: test
test:
	apt-get install -y -q libcurl4-openssl-dev libxml2-dev libsqlite3-dev libssl-dev
	swift build --build-tests
	swift test
