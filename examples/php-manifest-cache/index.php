<?php
// A page made with the cache: a tenth of the templates, and the classes that they belong
// to with the classes those extend, looked up in the manifest.
//
// ?rebuild writes the cache again; ?evidence says what opcache did so far, and how many
// files a page includes.

set_error_handler(fn($level, $message) => throw new ErrorException($message));
ob_start();
try {
    require __DIR__ . '/cache.php';
    $cache = new Cache(getenv('PLACE'), getenv('FORM'));
    if (isset($_GET['rebuild'])) {
        $cache->rebuild();
        echo "rebuilt\n";
    } else {
        page($cache);
    }
    if (isset($_GET['evidence'])) {
        ob_clean();
        evidence();
    }
} catch (Throwable $error) {
    ob_clean();
    http_response_code(500);
    echo $error->getMessage(), "\n";
}

function page(Cache $cache): void
{
    $manifest = $cache->manifest();
    $first = 20 * random_int(0, 9);
    for ($part = $first; $part < $first + 20; $part++) {
        $family = '';
        for ($class = "Class$part"; $class; $class = $manifest['classes'][$class]['parent']) {
            $family .= "$class ";
        }
        $values = ['title' => $family, 'user' => 'Jack & Jill', 'total' => '£20'];
        $cache->show($manifest['templates']["part$part"], $values);
    }
}

function evidence(): void
{
    $opcache = opcache_get_status(false)['opcache_statistics'] ?? [];
    header('Content-Type: application/json');
    echo json_encode([
        'opcache_enabled' => (int) ($opcache != []),
        'opcache_hits' => $opcache['hits'] ?? 0,
        'opcache_misses' => $opcache['misses'] ?? 0,
        'opcache_cached_scripts' => $opcache['num_cached_scripts'] ?? 0,
        'included_files' => count(get_included_files()),
    ]), "\n";
}
