import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Failure messages and their exit statuses", .timeLimit(.minutes(5)))
struct FailureWordsTests {
  @Test("A 3xx response that is an error is a failure of the server, not success", arguments: [304, 300, 305])
  func bareRedirect(_ status: Int) async throws {
    let server = try ScriptedServer { _ in .response(status) }
    defer { server.stop() }
    for command in ["get", "metadata"] {
      let outcome = await Rig().run(command, server.text("/svc/"))
      #expect(outcome.status == .network)
      #expect(outcome.output.isEmpty)
      #expect(outcome.diagnostics.contains("HTTP \(status)"))
      #expect(outcome.diagnostics.contains(status == 304 ? "is unchanged" : "sent a redirect"))
    }
  }

  @Test("A change that is redirected to a log-in page is not a success")
  func redirectedChange() async throws {
    let server = try ScriptedServer { request in
      request.path == "/login"
        ? .response(200, fields: ["Content-Type": "text/html"], body: "<html>log in</html>")
        : .response(302, fields: ["Location": "/login"])
    }
    defer { server.stop() }
    let outcome = await Rig().run("send", "DELETE", server.text("/svc/P(1)"))
    #expect(outcome.status == .network)
    #expect(outcome.diagnostics.contains("log-in page"))
    #expect(!server.requests.contains { $0.path == "/login" })
  }

  @Test(
    "The message about a cache folder that cannot be created has its name, the reason and a hint",
    arguments: ["", "/below"])
  func cacheFolder(_ below: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write([0], to: "file")
    for path in [file + below, "/dev/null" + below] {
      let outcome = await Rig().run("get", "--cache", path, "http://127.0.0.1:9/svc/P")
      #expect(outcome.status == .storage)
      #expect(outcome.diagnostics.contains("is a file, not a folder"))
      #expect(outcome.diagnostics.contains(path))
      #expect(outcome.diagnostics.contains("Check the path"))
      for word in ["Cocoa", "Error", "NS"] { #expect(!outcome.diagnostics.contains(word), "\(outcome.diagnostics)") }
    }
  }

  @Test("Superfluous arguments and invalid URLs are wrong usage")
  func wrongUse() async {
    #expect(await Rig().run("--version", "extra").status == .usage)
    #expect(await Rig().run("--version").status == .done)
    for url in ["::bad", "ftp://h/P", "http:", "P\nQ", "mailto:a@b"] {
      let outcome = await Rig(input: Array("42".utf8)).run("payload", "--file", "-", "--url", url)
      #expect(outcome.status == .usage, "\(url)")
    }
    for url in ["Products", "/svc/Products('a:b')", "P('a:b')/Q", "https://h/svc/P?$filter=A eq 'b'"] {
      let outcome = await Rig(input: Array("42".utf8)).run("payload", "--file", "-", "--url", url)
      #expect(outcome.status == .done, "\(url): \(outcome.diagnostics)")
    }
  }

  @Test(
    "Metadata that is an HTML page may be a log-in page",
    arguments: ["<!DOCTYPE html><html></html>", "<p>Log in", "{\"value\":1}", "Log in", ""])
  func page(_ body: String) async throws {
    let server = try ScriptedServer { _ in
      .response(200, fields: ["Content-Type": "text/html; charset=utf-8"], body: body)
    }
    defer { server.stop() }
    let outcome = await Rig().run("metadata", server.text("/svc/"))
    #expect(outcome.status == .network)
    #expect(outcome.diagnostics.contains("HTML page"))
    #expect(outcome.diagnostics.contains("log-in page"))
    #expect(!outcome.diagnostics.contains("OData payload"))
  }

  @Test("A header field of 5 MB is reported as too large")
  func largeField() async throws {
    let field = String(repeating: "x", count: 5_000_000)
    let server = try ScriptedServer { _ in .response(200, fields: ["X-Large": field], body: "{}") }
    defer { server.stop() }
    let outcome = await Rig().run("get", server.text("/svc/P"))
    #expect(outcome.status == .network)
    #expect(outcome.diagnostics.contains("too large"))
    #expect(!outcome.diagnostics.contains("memory"))
  }
}
