import Foundation
import LarderContent
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

/// Conditions and ranges together, through the engine: the caller gets what the server itself would say.
@Suite("Precedence of conditions and ranges (RFC 9110 §13.2.2)", .serialized, .timeLimit(.minutes(5)))
struct PrecedenceTests {
  /// What is in the cache, and how the resource has changed, when the request comes.
  enum Stage: String, CaseIterable, Sendable {
    case nothing, fresh, staleSame, staleChanged, part, stalePart, stalePartChanged

    var isPart: Bool { [.part, .stalePart, .stalePartChanged].contains(self) }
    var isStale: Bool { ![.nothing, .fresh, .part].contains(self) }
    var isChanged: Bool { [.staleChanged, .stalePartChanged].contains(self) }
  }

  /// A server of one resource in two versions, which evaluates every precondition in the order of the standard.
  final class Origin: Sendable {
    let hasTags: Bool
    private let version = Mutex(1)

    init(hasTags: Bool) { self.hasTags = hasTags }

    static let start: Int64 = 1_800_000_000
    static func changed(_ version: Int) -> Int64 { start - 86_400 * Int64(3 - version) }

    func change() { version.withLock { $0 = 2 } }

    func response(_ request: HTTPRequest, at now: Int64) -> (status: Int, fields: HTTPFields, content: String) {
      let version = version.withLock { $0 }
      let content = version == 1 ? "abcdefghij" : "ABCDEFGH"
      let changed = Origin.changed(version)
      var fields: HTTPFields = [
        "Cache-Control": "max-age=60", "Date": HTTPDate.text(now / 1000), "Last-Modified": HTTPDate.text(changed),
      ]
      let tag = hasTags ? "\"v\(version)\"" : nil
      fields[.etag] = tag
      if let condition = request.fields[.ifNoneMatch] {
        // Steps 3 and 4: the second does not count beside the first.
        if EntityTagList(condition).matchesWeakly(tag) { return (304, fields, "") }
      } else if let condition = request.fields[.ifModifiedSince],
        let since = HTTPDate.strictUnixTime(condition, now: now / 1000)
      {
        if changed <= since { return (304, fields, "") }
      }
      // Step 5, with the strong comparison.
      let ifRange = request.fields["If-Range"]
      let holds = ifRange.map { $0 == tag || (tag == nil && $0 == HTTPDate.text(changed)) } ?? true
      guard holds, let text = request.fields["Range"], let field = RangeField(text) else {
        return (200, fields, content)
      }
      guard case .ranges(let ranges) = field.resolved(length: content.count), let range = ranges.first else {
        return (416, ["Content-Range": "bytes */\(content.count)"], "")
      }
      fields["Content-Range"] = ContentRange.part(range, length: content.count).text
      return (206, fields, String(decoding: Array(content.utf8)[range], as: UTF8.self))
    }
  }

  /// An engine before an origin, at a stage.
  private static func rig(_ stage: Stage, _ origin: Origin) async throws -> EngineRig {
    let clock = RigClock()
    let rig = EngineRig { request, _ in
      let response = origin.response(request, at: clock.now)
      return .init(response.status, response.fields, response.content)
    } configure: {
      $0.environment = .at { clock.now }
    }
    if stage != .nothing { _ = try await rig.line("/a", stage.isPart ? ["Range": "bytes=0-3"] : [:]) }
    if stage.isStale { clock.pass(seconds: 61) }
    if stage.isChanged { origin.change() }
    return rig
  }

  /// All combinations; `If-Range` names a version by the validator that the origin has.
  static func requests(hasTags: Bool) -> [HTTPFields] {
    let dates = [Origin.changed(1) - 60, Origin.changed(1), Origin.changed(2)].map { HTTPDate.text($0) }
    let validators = hasTags ? ["\"v1\"", "\"v2\""] : Array(dates[1...])
    var requests: [HTTPFields] = []
    for match in [nil, "\"v1\"", "\"x\", \"v2\"", "\"x\"", "*"] {
      for since in [nil] + dates.map(Optional.some) {
        for range in [nil, "bytes=1-2", "bytes=5-6", "bytes=9-"] {
          for ifRange in [nil] + validators.map(Optional.some) where range != nil || ifRange == nil {
            var fields = HTTPFields()
            fields[.ifNoneMatch] = match
            fields[.ifModifiedSince] = since
            fields["Range"] = range
            fields["If-Range"] = ifRange
            requests.append(fields)
          }
        }
      }
    }
    return requests
  }

  @Test(
    "The response is the server's own, and the stored response is right afterwards", arguments: Stage.allCases,
    [true, false])
  func asTheServer(stage: Stage, hasTags: Bool) async throws {
    var failures: [String] = []
    for fields in Self.requests(hasTags: hasTags) {
      // Nothing below waits for anything: other tests shall have their turn.
      await Task.yield()
      let origin = Origin(hasTags: hasTags)
      let rig = try await Self.rig(stage, origin)
      let expected = origin.response(rig.request("/a", fields), at: rig.clock.now)
      let response = try await rig.response("/a", fields)
      let content = String(decoding: try await response.response.body.collect(), as: UTF8.self)
      let got = "\(response.response.status) \(response.response.fields["Content-Range"] ?? "-") \(content)"
      let wanted = "\(expected.status) \(expected.fields["Content-Range"] ?? "-") \(expected.content)"
      if got != wanted { failures.append("\(fields.map { "\($0.name): \($0.value)" }): \(got), not \(wanted)") }
      let plain = try await rig.line().prefix(14)
      if plain.split(separator: " ").prefix(2).joined(separator: " ")
        != (stage.isChanged ? "200 ABCDEFGH" : "200 abcdefghij")
      {
        failures.append("\(fields.map { "\($0.name): \($0.value)" }): then \(plain)")
      }
    }
    #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(8).joined(separator: "\n"))")
  }

  @Test("a fresh response that meets the caller's condition is 304 without a word to the server, in parts or whole")
  func asksNoServer() async throws {
    for stage in [Stage.fresh, .part] {
      for range in ["bytes=1-2", "bytes=5-6", "bytes=20-"] {
        let rig = try await Self.rig(stage, Origin(hasTags: true))
        let line = try await rig.line("/a", ["If-None-Match": "\"v1\"", "Range": range])
        #expect(line == "304  memory", "\(stage) \(range)")
        #expect(rig.network.requests.count == 1)
      }
    }
  }

  @Test("a 304 to the caller's own condition renews what has the same entity tag (RFC 9111 §4.3.4)")
  func renews() async throws {
    let rig = try await Self.rig(.staleSame, Origin(hasTags: true))
    let condition: HTTPFields = ["If-Modified-Since": HTTPDate.text(Origin.changed(1)), "Range": "bytes=1-2"]
    #expect(try await rig.line("/a", condition) == "304  network")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == nil)
    #expect(try await rig.line() == "200 abcdefghij memory")
  }
}
