import Foundation
import LarderContent
import LarderHTTP
import Synchronization

/// A content manager over a rig's engine.
struct ManagerRig {
  let rig: EngineRig
  let manager: ContentManager

  init(
    over cache: (any Cache)? = nil, _ automatic: (@Sendable (HTTPRequest, Int) -> ManualNetwork.Scripted?)? = nil
  ) {
    rig = EngineRig(automatic, over: cache)
    manager = ContentManager(engine: rig.engine)
  }

  func query(_ path: String = "/a", soft: Int? = nil, ttl: Int? = nil) -> ContentQuery<String> {
    var query = ContentQuery<String>(rig.request(path).url)
    query.softTTL = soft.map { .seconds($0) }
    query.ttl = ttl.map { .seconds($0) }
    return query
  }

  /// The responses and the error of a query, one text each.
  func trace(_ query: ContentQuery<String>) async -> [String] {
    var trace: [String] = []
    do throws(ContentError) {
      for try await response in manager.responses(to: query) { trace.append(Self.text(response)) }
    } catch {
      trace.append("error \(error.category)")
    }
    return trace
  }

  static func text(_ response: ContentResponse<String>) -> String {
    "\(response.isIntermediate ? "intermediate" : "final") \(response.value) \(response.origin)"
  }
}

/// A listener that writes down what it hears.
final class ReceivedResponses: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  var listener: ContentListener<String> {
    ContentListener(
      intermediate: { self.add(ManagerRig.text($0)) }, final: { self.add(ManagerRig.text($0)) },
      failed: { self.add("failed \($0.category)") })
  }
  private func add(_ line: String) { lines.withLock { $0.append(line) } }
}
