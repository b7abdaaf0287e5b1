import Testing

@testable import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a payload from chunks.
func readPayload(_ chunks: [[UInt8]], options: PayloadOptions = PayloadOptions()) throws -> ODataPayload {
  let builder = PayloadBuilder()
  var reader = JSONPayloadReader(options: options)
  for chunk in chunks { try reader.read(chunk, into: builder) }
  try reader.finish(into: builder)
  return try #require(builder.payload)
}

/// Reads a payload from text.
func readPayload(_ text: String, options: PayloadOptions = PayloadOptions()) throws -> ODataPayload {
  try readPayload([Array(text.utf8)], options: options)
}

/// What reading ends with: the payload or the error.
func outcome(_ chunks: [[UInt8]], options: PayloadOptions = PayloadOptions()) -> Result<ODataPayload, PayloadError>? {
  do { return .success(try readPayload(chunks, options: options)) } catch let error as PayloadError {
    return .failure(error)
  } catch { return nil }
}

extension ODataPayload {
  var entity: ODataEntity? { if case .entity(let entity) = self { entity } else { nil } }
  var collection: ODataEntityCollection? { if case .collection(let collection) = self { collection } else { nil } }
  var delta: ODataDelta? { if case .delta(let delta) = self { delta } else { nil } }
  var property: ODataPropertyPayload? { if case .property(let property) = self { property } else { nil } }
  var error: ODataErrorPayload? { if case .error(let error) = self { error } else { nil } }
}

/// A handler that does nothing; tests override what they watch.
class PayloadHandlerBase: PayloadHandler {
  func beginPayload(_ kind: PayloadKind) {}
  func endPayload() {}
  func beginEntity(_ name: PayloadName?, role: PayloadEntityRole, typeName: String?) {}
  func endEntity() {}
  func nullEntity(_ name: PayloadName) {}
  func beginCollection(_ name: PayloadName, isDelta: Bool) {}
  func endCollection() {}
  func beginComplex(_ name: PayloadName?) {}
  func endComplex() {}
  func beginValues(_ name: PayloadName?) {}
  func endValues() {}
  func property(_ name: PayloadName, _ scalar: PayloadScalar) throws {}
  func element(_ scalar: PayloadScalar) {}
  func value(_ name: PayloadName?, _ value: ODataValue) {}
  func control(_ information: ControlInformation, on name: PayloadName?, _ scalar: PayloadScalar) {}
  func annotation(_ annotation: ODataAnnotation, on name: PayloadName?) {}
  func operation(_ operation: ODataOperation) {}
  func reference(_ reference: ODataReference) {}
  func link(_ link: ODataDeltaLink, isDeleted: Bool) {}
  func serviceElement(_ element: ODataServiceDocument.Element) {}
  func error(_ error: ODataErrorPayload) {}
}

/// A generator whose seed a failing test can print.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Splits bytes at random places.
func randomChunks(_ bytes: [UInt8], using generator: inout SplitMix) -> [[UInt8]] {
  var chunks: [[UInt8]] = []
  var start = 0
  while start < bytes.count {
    let length = Int.random(in: 1...max(1, min(64, bytes.count - start)), using: &generator)
    chunks.append(Array(bytes[start..<start + length]))
    start += length
  }
  return chunks
}

/// Recorded payloads next to the checkout; if there are none, empty, with a note.
func sampleFiles() -> [(path: String, bytes: [UInt8])] {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "shared/odata/samples/payloads")
  guard let names = try? FileManager.default.subpathsOfDirectory(atPath: root.path) else {
    print("no recorded payloads at \(root.path): only the tests' own are read")
    return []
  }
  var files: [(String, [UInt8])] = []
  for name in names where !name.hasPrefix("atom") && !name.hasPrefix("batch") {
    guard let data = try? Data(contentsOf: root.appending(path: name)), !data.isEmpty else { continue }
    files.append((name, jsonBody(name, Array(data))))
  }
  if files.isEmpty { print("no recorded payloads at \(root.path): only the tests' own are read") }
  return files.filter { !$0.1.isEmpty }.sorted { $0.0 < $1.0 }
}

/// The body of a recorded exchange that holds JSON; the whole of other files.
private func jsonBody(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
  guard name.hasPrefix("http-recorded") else { return bytes }
  let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
  guard let blank = text.firstRange(of: "\n\n") else { return [] }
  let body = text[blank.upperBound...].drop { $0.isWhitespace }
  return body.hasPrefix("{") || body.hasPrefix("[") ? Array(body.utf8) : []
}
