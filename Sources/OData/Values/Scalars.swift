// Shells only: each becomes a file of its own with its exact arithmetic and spellings.
/// Stub.
public struct ODataDecimal: Sendable, Hashable {}
/// Stub.
public struct ODataGuid: Sendable, Hashable {}
/// Stub.
public struct ODataDate: Sendable, Hashable {}
/// Stub.
public struct ODataTimeOfDay: Sendable, Hashable {}
/// Stub.
public struct ODataDateTimeOffset: Sendable, Hashable {}
/// Stub.
public struct ODataDateTime: Sendable, Hashable {}
/// Stub.
public struct ODataDuration: Sendable, Hashable {}
/// Stub.
public struct ODataGeo: Sendable, Hashable {}
