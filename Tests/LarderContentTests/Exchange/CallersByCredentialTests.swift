import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Responses to different credentials are never exchanged", .timeLimit(.minutes(5)))
struct CallersByCredentialTests {
  static let credentials: [HTTPFieldName] = [
    .authorization, "Proxy-Authorization", .cookie, "X-API-Key", "X-Auth-Token", "X-Access-Token",
    "Ocp-Apim-Subscription-Key", "APIKey", "PRIVATE-TOKEN", "Api-Key", "X-Goog-Api-Key", "X-Vault-Token",
    "X-Functions-Key", "DPoP", "X-Amz-Security-Token", "X-Session-Token", "JOB-TOKEN", "x-client-secret",
    "X-Login-Session", "X-My-Key", "X-ApiKey", "X-Original-Authorization", "X_API_Key", "AccessToken", "SAP-ContextId",
    "sessionid",
  ]

  private static func rig(_ configure: (inout HTTPCacheOptions) -> Void = { _ in }) -> EngineRig {
    EngineRig({ _, index in .init(200, ["Cache-Control": "max-age=100"], "\(index)") }, configure: configure)
  }

  @Test("Each credential has its own entries", arguments: credentials)
  func separate(name: HTTPFieldName) async throws {
    let rig = Self.rig()
    for (index, fields) in ([[:], [name: "one"], [name: "two"]] as [HTTPFields]).enumerated() {
      #expect(try await rig.line("/a", fields) == "200 \(index) network")
      #expect(try await rig.line("/a", fields) == "200 \(index) memory")
    }
  }

  @Test("two requests with different credentials do not wait for each other", arguments: ["PRIVATE-TOKEN", "X-My-Key"])
  func notShared(name: HTTPFieldName) async throws {
    let rig = EngineRig()
    let tasks = ["one", "two"].map { value in immediately { try await rig.line("/a", [name: value]) } }
    for index in 0..<2 {
      let exchange = await rig.network.exchange(index)
      let value = exchange.request.fields[name] ?? "-"
      exchange.respond(200, ["Cache-Control": "max-age=60"], length: value.utf8.count)
      exchange.send(value)
      exchange.finish()
    }
    #expect(try await tasks[0].value == "200 one network")
    #expect(try await tasks[1].value == "200 two network")
  }

  @Test(
    "fields that fit a pattern and say nothing of the caller separate nothing",
    arguments: ["Idempotency-Key", "Sec-WebSocket-Key", "X-CSRF-Token", "X-Request-ID", "Accept", "Monkey"])
  func harmless(name: HTTPFieldName) async throws {
    let rig = Self.rig()
    #expect(try await rig.line("/a", [name: "one"]) == "200 0 network")
    #expect(try await rig.line("/a", [name: "two"]) == "200 0 memory")
  }
}
