<?php
// A cache of what an application would otherwise find out again for each page: a manifest
// of its classes and templates, and the templates made ready. It has one of two forms:
// serialised, read as text; or included, which is PHP code that PHP runs.

final class Cache
{
    private readonly bool $included;

    public function __construct(private readonly string $place, string $form)
    {
        $this->included = match ($form) {
            'serialised' => false,
            'included' => true,
        };
    }

    /** Reads all sources and writes the cache, the manifest last. */
    public function rebuild(): void
    {
        if (!is_dir("$this->place/cache")) {
            mkdir("$this->place/cache");
        }
        $manifest = ['classes' => [], 'templates' => []];
        foreach (self::files("$this->place/src/classes") as $file) {
            preg_match('/^class (\w+)(?: extends (\w+))?/m', file_get_contents($file), $found);
            $manifest['classes'][$found[1]] =
                ['file' => $file, 'modified' => filemtime($file), 'parent' => $found[2] ?? null];
        }
        foreach (self::files("$this->place/src/templates") as $file) {
            $name = basename($file, '.html');
            $compiled = "$this->place/cache/$name." . ($this->included ? 'php' : 'txt');
            self::replace($compiled, $this->compile(file_get_contents($file)));
            $manifest['templates'][$name] = $compiled;
        }
        $text = $this->included
            ? '<?php return ' . var_export($manifest, true) . ';'
            : serialize($manifest);
        self::replace($this->manifest_file(), $text);
    }

    public function manifest(): array
    {
        $file = $this->manifest_file();
        return $this->included ? include $file : unserialize(file_get_contents($file));
    }

    /** Prints a template's text with these values in it. */
    public function show(string $template, array $values): void
    {
        if ($this->included) {
            extract($values);
            include $template;
            return;
        }
        $places = [];
        foreach ($values as $name => $value) {
            $places["{{ $name }}"] = htmlspecialchars($value);
        }
        echo strtr(file_get_contents($template), $places);
    }

    private function compile(string $source): string
    {
        return $this->included
            ? preg_replace('/{{ (\w+) }}/', '<?= htmlspecialchars(\$$1) ?>', $source)
            : $source;
    }

    private function manifest_file(): string
    {
        return "$this->place/cache/manifest." . ($this->included ? 'php' : 'serialised');
    }

    /** The full names of a folder's files. */
    private static function files(string $folder): array
    {
        $names = array_diff(scandir($folder), ['.', '..']);
        return array_map(fn($name) => "$folder/$name", $names);
    }

    /** Others see the old file or the new one, never a part of one. */
    private static function replace(string $file, string $text): void
    {
        $new = "$file." . getmypid();
        file_put_contents($new, $text);
        rename($new, $file);
    }
}
