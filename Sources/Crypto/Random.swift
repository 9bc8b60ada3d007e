internal import COpenSSL

/// Bytes from OpenSSL's generator, fit for keys and serial numbers. Any thread.
package func randomBytes(_ count: Int) -> [UInt8] {
    precondition(count >= 0 && count <= Int(Int32.max))
    var bytes = [UInt8](repeating: 0, count: count)
    // Fails only when the system gives no entropy at all; going on with zeros would be worse.
    precondition(RAND_bytes(&bytes, Int32(count)) == 1, "RAND_bytes failed")
    return bytes
}
