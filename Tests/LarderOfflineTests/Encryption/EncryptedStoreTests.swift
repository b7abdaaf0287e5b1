import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

// Without an import of Storage: the store's own module names the key.
@Suite("Offline store: opened with a key", .timeLimit(.minutes(2)))
struct EncryptedStoreTests {
  private let service = UploadService()
  private let folder: TemporaryFolder
  private let right: StorageKey
  private let wrong: StorageKey

  init() throws {
    folder = try TemporaryFolder()
    right = try StorageKey(bytes: [UInt8](repeating: 1, count: 32))
    wrong = try StorageKey(bytes: [UInt8](repeating: 2, count: 32))
    service.change { $0.sets["Orders"] = [1: .init(values: ["ID": "1", "Name": "\"one\"", "Total": "1"])] }
  }

  private func parameters(_ key: StorageKey?) -> OfflineODataParameters {
    var parameters = OfflineODataParameters(path: folder.path, encryptionKey: key)
    parameters.conversation.retry = .never
    parameters.conversation.csrf = .never
    return parameters
  }

  private func provider(_ key: StorageKey?) throws -> OfflineODataProvider {
    guard let root = URL(string: "http://h/s/") else { throw OfflineODataError(.invalidServiceRoot) }
    return try OfflineODataProvider(serviceRoot: root, transport: service, parameters: parameters(key))
  }

  /// A closed store with an order, and a change of it that waits.
  private func fill(_ key: StorageKey?) async throws {
    let store = try provider(key)
    try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await store.open()
    try await store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    try await store.close()
  }

  private func name(with key: StorageKey?) async throws -> String {
    let store = try provider(key)
    try await store.open()
    let entity = try await store.readEntity("Orders(1)")
    #expect(try await store.hasPendingUpload())
    try await store.close()
    if case .string(let name)? = entity?["Name"] { return name }
    return "-"
  }

  @Test("who has a store has not its key: a provider made with its parameters does not open the file")
  func hiddenKey() async throws {
    try await fill(right)
    let store = try provider(right)
    try await store.open()
    #expect(store.parameters.encryptionKey == nil)
    var shown = ""
    dump(store.parameters, to: &shown)
    #expect(!shown.contains("StorageKey"), "\(shown)")
    try await store.close()
    let other = try OfflineODataProvider(serviceRoot: store.root.url, transport: service, parameters: store.parameters)
    #expect(await error { try await other.open() }?.name == .encryptionKeyMissing)
    #expect(
      await error { try await OfflineODataProvider.changeEncryptionKey(of: store.parameters, to: wrong) }?.category
        == .preconditionFailed)
    // Under another name, they create no plain file.
    var renamed = store.parameters
    renamed.storeName = "other"
    let copy = try OfflineODataProvider(serviceRoot: store.root.url, transport: service, parameters: renamed)
    #expect(await error { try await copy.open() }?.name == .encryptionKeyMissing)
    #expect(!FileManager.default.fileExists(atPath: copy.file))
    renamed.encryptionKey = wrong
    let encrypted = try OfflineODataProvider(serviceRoot: store.root.url, transport: service, parameters: renamed)
    try await encrypted.open()
    try await encrypted.close()
    renamed = encrypted.parameters
    renamed.encryptionKey = nil
    renamed.storeName = "plain"
    let plain = try OfflineODataProvider(serviceRoot: store.root.url, transport: service, parameters: renamed)
    try await plain.open()
    try await plain.close()
    // The parameters of a plain store are those of another one.
    renamed = plain.parameters
    renamed.storeName = "plain-too"
    let second = try OfflineODataProvider(serviceRoot: store.root.url, transport: service, parameters: renamed)
    try await second.open()
    try await second.close()
    // The store itself opens again.
    try await store.open()
    #expect(try await store.hasPendingUpload())
    try await store.close()
  }

  private func error(_ body: () async throws -> Void) async -> OfflineODataError? {
    do {
      try await body()
      return nil
    } catch { return error as? OfflineODataError }
  }

  private func bytes() throws -> Data { try Data(contentsOf: URL(filePath: folder.file("store.larder"))) }

  // MARK: Opening

  @Test("what is kept under a key is there again under it, by 32 bytes or by a passphrase")
  func again() async throws {
    try await fill(right)
    #expect(try await name(with: right) == "mine")
    try FileManager.default.removeItem(atPath: folder.file("store.larder"))
    let phrase = try StorageKey(passphrase: "Æthelred's paſſphrase".utf8)
    try await fill(phrase)
    #expect(try await name(with: try StorageKey(passphrase: "Æthelred's paſſphrase".utf8)) == "mine")
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let isEncrypted: Bool
    let givesKey: Bool
    let name: OfflineODataErrorName
    var testDescription: String { "\(name)" }
  }

  @Test(
    "another key, none, or one too many: an error that says which and what to do, and nothing is changed",
    arguments: [
      Case(isEncrypted: true, givesKey: true, name: .wrongEncryptionKey),
      Case(isEncrypted: true, givesKey: false, name: .encryptionKeyMissing),
      Case(isEncrypted: false, givesKey: true, name: .storeNotEncrypted),
    ])
  func rejected(_ which: Case) async throws {
    try await fill(which.isEncrypted ? right : nil)
    let before = try bytes()
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let store = try provider(which.givesKey ? wrong : nil)
    let error = await error { try await store.open() }
    #expect(error?.name == which.name, "\(error.debugDescription)")
    guard case .preconditionFailed? = error else {
      Issue.record("\(error.debugDescription)")
      return
    }
    let message = error?.errorMessage ?? ""
    #expect(message.contains(folder.file("store.larder")), "\(message)")
    #expect(message.hasSuffix(which.name.cure ?? "no cure"), "\(message)")
    #expect(!store.isOpen)
    #expect(try bytes() == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == files.sorted())
    #expect(try await name(with: which.isEncrypted ? right : nil) == "mine")
  }

  @Test("parameters that are printed or dumped do not show the key")
  func printed() throws {
    let secret = "Geheimnis-5512"
    let parameters = parameters(try StorageKey(passphrase: secret.utf8))
    var dumped = ""
    dump(parameters, to: &dumped)
    for text in ["\(parameters)", String(reflecting: parameters), dumped] { #expect(!text.contains(secret)) }
  }

  @Test("a read-only folder: an encrypted store is read with its key, and rejects another at once")
  func readOnly() async throws {
    guard let sealed = try SealedFolder() else { return print("nothing may be sealed here") }
    try await fill(right)
    try FileManager.default.copyItem(atPath: folder.file("store.larder"), toPath: sealed.file("store.larder"))
    try #require(sealed.seal())
    guard let root = URL(string: "http://h/s/") else { return }
    func provider(_ key: StorageKey?) throws -> OfflineODataProvider {
      try OfflineODataProvider(
        serviceRoot: root, transport: service,
        parameters: OfflineODataParameters(path: sealed.path, encryptionKey: key))
    }
    let store = try provider(right)
    try await store.open()
    #expect(store.isReadOnly)
    #expect(try await store.readEntity("Orders(1)")?["Name"] == .string("mine"))
    try await store.close()
    for (key, expected) in [(wrong, OfflineODataErrorName.wrongEncryptionKey), (nil, .encryptionKeyMissing)] {
      let store = try provider(key)
      #expect(await error { try await store.open() }?.name == expected)
    }
    try #require(sealed.unseal())
  }

  // MARK: Another key

  @Test("a plain store is encrypted, gets another key and is plain again, with all its pending changes")
  func changing() async throws {
    try await fill(nil)
    try await OfflineODataProvider.changeEncryptionKey(of: parameters(nil), to: right)
    #expect(await error { _ = try await name(with: nil) }?.name == .encryptionKeyMissing)
    #expect(try await name(with: right) == "mine")
    try await OfflineODataProvider.changeEncryptionKey(of: parameters(right), to: wrong)
    #expect(await error { _ = try await name(with: right) }?.name == .wrongEncryptionKey)
    let store = try provider(wrong)
    try await store.open()
    #expect(try await store.upload().sent == 1)
    #expect(service.entities("Orders")[1]?.values["Name"] == "\"mine\"")
    try await store.download()
    try await store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("again"))]))
    try await store.close()
    try await OfflineODataProvider.changeEncryptionKey(of: parameters(wrong), to: nil)
    #expect(try await name(with: nil) == "again")
  }

  @Test("a key is not changed under who has the store open, nor by who does not know it, nor where there is none")
  func notChanged() async throws {
    try await fill(right)
    let store = try provider(right)
    try await store.open()
    let used = await error { try await OfflineODataProvider.changeEncryptionKey(of: parameters(right), to: wrong) }
    #expect(used?.name == .storeInUse, "\(used.debugDescription)")
    try await store.close()
    let before = try bytes()
    for (old, name) in [(wrong, OfflineODataErrorName.wrongEncryptionKey), (nil, .encryptionKeyMissing)] {
      #expect(
        await error { try await OfflineODataProvider.changeEncryptionKey(of: parameters(old), to: wrong) }?.name == name
      )
    }
    let neither = await error { try await OfflineODataProvider.changeEncryptionKey(of: parameters(nil), to: nil) }
    #expect(neither?.name == .invalidParameter)
    #expect(try bytes() == before)
    var elsewhere = parameters(right)
    elsewhere.storeName = "none"
    let missing = await error { try await OfflineODataProvider.changeEncryptionKey(of: elsewhere, to: wrong) }
    #expect(missing?.name == .resourceNotFound)
    #expect(!FileManager.default.fileExists(atPath: folder.file("none.larder")))
  }

  @Test("a database of another program in the store's place is not encrypted")
  func foreign() async throws {
    let other = try await Database.open(
      folder.file("store.larder"), schema: Schema(applicationID: 99, steps: [OneTable()]))
    try await other.close()
    let before = try bytes()
    let error = await error { try await OfflineODataProvider.changeEncryptionKey(of: parameters(nil), to: right) }
    #expect(error?.name == .foreignFile, "\(error.debugDescription)")
    #expect(try bytes() == before)
  }

  private struct OneTable: SchemaStep {
    func run(on connection: Connection) throws(StorageError) { try connection.run("CREATE TABLE other(a)") }
  }

  // MARK: A lost key

  @Test("a store whose key is lost can be cleared if it is not open", arguments: [true, false])
  func clearing(givesKey: Bool) async throws {
    try await fill(right)
    let store = try provider(right)
    try await store.open()
    let lost = try provider(givesKey ? wrong : nil)
    #expect(await error { try await lost.clear() }?.name == .storeInUse)
    #expect(try await store.readEntity("Orders(1)") != nil)
    try await store.close()
    try await lost.clear()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    try await fill(wrong)
    #expect(try await name(with: wrong) == "mine")
  }

  @Test("a plain store can be cleared by who would give a key")
  func clearingPlain() async throws {
    try await fill(nil)
    try await provider(right).clear()
    #expect(!FileManager.default.fileExists(atPath: folder.file("store.larder")))
  }
}
