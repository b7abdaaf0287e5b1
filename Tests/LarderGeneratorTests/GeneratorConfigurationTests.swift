import Testing

@testable import LarderGenerator

@Suite("larder-generate.json", .timeLimit(.minutes(1)))
struct GeneratorConfigurationTests {
  @Test("all names are read, and all but metadata are optional")
  func values() throws {
    let all = try GeneratorConfiguration(
      Array(
        #"{"metadata": "a/b.xml", "only": ["Orders"], "except": ["*Text", "X"], "access": "public", "prefix": "My"}"#
          .utf8))
    #expect(all.metadata == "a/b.xml")
    #expect(
      all.options
        == GeneratorOptions(
          access: .public, prefix: "My", only: [NamePattern("Orders")],
          except: [NamePattern("*Text"), NamePattern("X")],
          documentName: "b.xml"))
    let least = try GeneratorConfiguration(Array(#"{"metadata": "b.xml"}"#.utf8))
    #expect(least.options == GeneratorOptions(documentName: "b.xml"))
  }

  @Test(
    "wrong content is an error that says what is wrong",
    arguments: [
      ("", "it is not JSON"), ("{", "it is not JSON"), ("{}", "'metadata' is missing"),
      ("[]", "it is not a JSON object"), ("1", "it is not a JSON object"), ("null", "it is not a JSON object"),
      (#"{"metadata": 1}"#, "'metadata' has another type"), (#"{"metadata": null}"#, "'metadata' has another type"),
      (#"{"metadata": ""}"#, "'metadata' is empty"),
      (#"{"metadata": "a", "only": "b"}"#, "'only' has another type"),
      (#"{"metadata": "a", "only": [1]}"#, "'only' has another type"),
      (#"{"metadata": "a", "except": [null]}"#, "'except' has another type"),
      (#"{"metadata": "a", "access": "open"}"#, "'access' must be public, package or internal"),
      (#"{"metadata": "a", "access": 1}"#, "'access' has another type"),
      (#"{"metadata": "a", "prefix": []}"#, "'prefix' has another type"),
      (#"{"metadata": "a", "onyl": []}"#, "unknown name 'onyl'"),
    ])
  func errors(json: String, reason: String) {
    #expect(throws: GeneratorError.invalidConfiguration(reason)) { try GeneratorConfiguration(Array(json.utf8)) }
  }
}
